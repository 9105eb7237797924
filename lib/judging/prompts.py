"""What a judge reads: the two views as text, the paper's prompts, and the reply schemas.

The fragments are the paper's own (trajectory-judge, Appendix D) and used word for word. A prompt is constant up to
the view, so that a server's prefix cache serves all of it but the view.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lib.judging.neutralise import neutralise
from lib.records import Sees, Step, ToolCall, View


class Brief(Struct, frozen=True, kw_only=True):
    """What a model judge is told of the task: who acts, by which procedure, and what each failure type means.

    ``to`` is whom the agent answers, in words; ``files`` are checksums of the files that it was read from.
    """

    opening: str
    procedure: str
    types: dict[str, str]
    to: str = ""
    files: dict[str, str] = {}

    def taxonomy(self) -> str:
        """A line a failure type, and one for none."""
        lines = [f"- {name}: {meaning}" for name, meaning in self.types.items()]
        return "\n".join([*lines, "- none: the trajectory is correct."])


DESK = Brief(
    opening="You are auditing a customer-support agent.",
    to=" to the customer",
    procedure="""\
The agent handles refund requests for an online retailer. It must:
1. Verify who the customer is before acting on their order.
2. Look up the order before judging it.
3. Read the refund policy for the item that was ordered.
4. Confirm eligibility before moving any money.
5. Refund exactly the amount the eligibility check authorised - no more, no less.
6. Escalate instead of refunding when the customer is not eligible.
7. Pass only arguments that come from the goal or from an earlier observation.
8. Finish by replying to the customer, asserting only what the observations support.""",
    types={
        "wrong_tool": "called a tool that does not serve the sub-goal it was pursuing, for example looking the order "
        "up a second time when it needed the item's refund policy.",
        "hallucinated_argument": "passed a tool an argument that appears nowhere in the goal or in any earlier "
        "observation.",
        "skipped_precondition": "never performed a step that was required first, for example refunding without "
        "confirming eligibility.",
        "ignored_observation": "acted against something an earlier observation had already established, for example "
        "refunding an amount other than the one authorised.",
        "premature_stop": "stopped before completing the task.",
        "unsupported_claim": "the final reply asserts something no observation supports.",
    },
)

CONFIDENCE = (
    "confidence is your probability that your own verdict is correct, from 0.5 (a coin flip) to 1.0 (certain). "
    "Do not default to a round number."
)

_OUTCOME_VIEW = (
    "You are shown only the goal the agent was given and the answer it sent{to}. The steps it took are "
    "not available to you. Decide whether this answer is a correct and complete resolution of the request. Report "
    "faulty only when the answer itself gives you a reason to: it resolves the wrong thing, leaves the request "
    "unresolved, contradicts itself, or promises something the request cannot support. Not being able to see the "
    "steps is not evidence of a failure. Do not report faulty because a procedure step is unverifiable from here - "
    "if the answer looks like a correct resolution, say so."
)

_STEP_VIEW = (
    "You are shown the agent's full trajectory: every thought, tool call and observation, then the answer it sent. "
    "Check each step against the procedure in order. A trajectory can be faulty even when the final answer is "
    "correct - a right answer reached the wrong way is still a failure. In your reasoning, go step by step and say "
    "for each whether it was appropriate and why. Then give the index of the first step that went wrong, and the "
    "failure type from this list:"
)

_CONFIDENCE = {"type": "number", "minimum": 0.5, "maximum": 1.0}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Rubric(Struct, frozen=True, kw_only=True):
    """What a model judge is asked: what stands before the view and what after it, and the schema of the reply.

    Attributes:
        name: with which the judge's id begins; kind: of the judge, as in ``lib.records.About``.
        states_form: the text tells the form of the reply.
        files: checksums of the files that it was read from.
    """

    name: str
    kind: str
    sees: Sees
    before: str
    after: str = ""
    schema: dict[str, Any]
    states_form: bool = False
    files: dict[str, str] = {}

    def prompt(self, view: View) -> str:
        """The whole prompt: one flat string, no roles, the view last but for ``after``.

        Raises ValueError when the view is not the one that the judge sees.
        """
        if (view.steps is None) != (self.sees == "outcome"):
            raise ValueError(f"a judge that sees the {self.sees} view was handed the other one")
        return f"{self.before}{render_view(view)}\n--- END ---\n{self.after}"

    def stated(self) -> Rubric:
        """The same rubric with the form of the reply in words, for a server that enforces no schema."""
        if self.states_form:
            return self
        return replace(self, after=f"{self.after}{reply_form(self.schema)}\n", states_form=True)

    def checksums(self) -> dict[str, str]:
        """Checksums of the constant text and of the schema (in property order), and of files that gave them."""
        sums = {"prompt_sha256": checksum(self.before + self.after), "schema_sha256": checksum(self.schema)}
        return sums | self.files


# The prompt is equal up to here to that with reasoning, so that a server's prefix cache serves both.
# The form is spelled out: a model that breaks lines as it likes takes three times the tokens for the same word.
_NO_REASONING = (
    'Give no reasoning now. Reply on one line with {"faulty": true} or {"faulty": false} and nothing else.\n'
)
_DIRECT = _object({"faulty": {"type": "boolean"}})


def reply_schema(sees: Sees, types: Iterable[str]) -> dict[str, Any]:
    """The reply's fields. Their order is that of generation: the grammar makes the model reason before it decides."""
    step = {"failure_step": {"type": ["integer", "null"], "minimum": 0}} if sees == "step" else {}
    reasoned = {"reasoning": {"type": "string"}, "faulty": {"type": "boolean"}}
    named = {"failure_type": {"type": "string", "enum": [*types, "none"]}, "confidence": _CONFIDENCE}
    return _object(reasoned | step | named)


def rubrics(brief: Brief) -> dict[str, Rubric]:
    """The rubrics of the model judges on a brief, by name."""
    asked: dict[Sees, list[str]] = {
        "outcome": [_OUTCOME_VIEW.format(to=brief.to), f"Failure types:\n{brief.taxonomy()}"],
        "step": [f"{_STEP_VIEW}\n{brief.taxonomy()}"],
    }
    made: dict[str, Rubric] = {}
    for sees, texts in asked.items():
        before = "\n\n".join([brief.opening, brief.procedure, *texts, CONFIDENCE, "--- BEGIN ---\n"])
        plain = Rubric(
            name=sees,
            kind=sees,
            sees=sees,
            before=before,
            schema=reply_schema(sees, brief.types),
            files=brief.files,
        )
        direct = f"direct-{sees}"
        made[sees] = plain
        made[direct] = replace(plain, name=direct, kind="direct", after=_NO_REASONING, schema=_DIRECT)
    return made


def reply_form(schema: dict[str, Any]) -> str:
    """The form of the reply in words, for a server that enforces no schema: one line a field, in order."""
    lines = [f"- {name}: {_allowed(field)}" for name, field in schema["properties"].items()]
    return "\n".join(["Reply with one JSON object and nothing else. Its fields, all of them, in this order:", *lines])


def _allowed(field: dict[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(json.dumps(value) for value in field["enum"])
    words = {"string": "text", "boolean": "true or false", "integer": "a whole number", "number": "a number"}
    kinds = [field["type"]] if isinstance(field["type"], str) else field["type"]
    bounds = [f"{word} {field[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in field]
    return " ".join([" or ".join(words.get(kind, kind) for kind in kinds), *bounds])


def render_call(call: ToolCall) -> str:
    """A call as one line, ``tool(key='value', …)``."""
    return f"{call.tool}({', '.join(f'{key}={value!r}' for key, value in call.args.items())})"


def render_step(step: Step) -> str:
    """Three lines a step, each beginning with its index."""
    seen = step.observation
    observed = f"ok=True {seen.data!r}" if seen.ok else f"ok=False error={seen.error!r}"
    parts = {"thought": step.thought, "call": render_call(step.call), "observation": observed}
    return "\n".join(f"[step {step.index}] {name}: {neutralise(text)}" for name, text in parts.items())


def render_view(view: View) -> str:
    """The text between BEGIN and END: goal, the steps if the view has them, final answer."""
    parts = [f"GOAL: {neutralise(view.goal)}"]
    if view.steps is not None:
        parts += [render_step(step) for step in view.steps]
    return "\n".join([*parts, f"FINAL ANSWER: {neutralise(view.final_answer)}"])


def checksum(value: Any) -> str:
    """SHA-256 of a text, or of a value's canonical JSON: what run.json records of prompts and schemas."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


RUBRICS = rubrics(DESK)
