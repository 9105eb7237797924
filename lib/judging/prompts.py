"""What a judge reads: the two views as text, the paper's prompts, and the reply schemas.

The fragments are the paper's own (trajectory-judge, Appendix D) and used word for word. A prompt is constant up to
the view, so that a server's prefix cache serves all of it but the view.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lib.records import FAULT_TYPES, Sees, Step, ToolCall, View

PROCEDURE = """\
The agent handles refund requests for an online retailer. It must:
1. Verify who the customer is before acting on their order.
2. Look up the order before judging it.
3. Read the refund policy for the item that was ordered.
4. Confirm eligibility before moving any money.
5. Refund exactly the amount the eligibility check authorised - no more, no less.
6. Escalate instead of refunding when the customer is not eligible.
7. Pass only arguments that come from the goal or from an earlier observation.
8. Finish by replying to the customer, asserting only what the observations support."""

TAXONOMY = """\
- wrong_tool: called a tool that does not serve the sub-goal it was pursuing, for example looking the order up a \
second time when it needed the item's refund policy.
- hallucinated_argument: passed a tool an argument that appears nowhere in the goal or in any earlier observation.
- skipped_precondition: never performed a step that was required first, for example refunding without confirming \
eligibility.
- ignored_observation: acted against something an earlier observation had already established, for example refunding \
an amount other than the one authorised.
- premature_stop: stopped before completing the task.
- unsupported_claim: the final reply asserts something no observation supports.
- none: the trajectory is correct."""

CONFIDENCE = (
    "confidence is your probability that your own verdict is correct, from 0.5 (a coin flip) to 1.0 (certain). "
    "Do not default to a round number."
)

_OPENING = "You are auditing a customer-support agent."

_OUTCOME_VIEW = (
    "You are shown only the goal the agent was given and the answer it sent to the customer. The steps it took are "
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

_FAILURE_TYPE = {"type": "string", "enum": [*FAULT_TYPES, "none"]}
_CONFIDENCE = {"type": "number", "minimum": 0.5, "maximum": 1.0}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Rubric(Struct, frozen=True, kw_only=True):
    """What a model judge is asked: what stands before the view and what after it, and the schema of the reply."""

    sees: Sees
    before: str
    after: str = ""
    schema: dict[str, Any]

    def prompt(self, view: View) -> str:
        """The whole prompt: one flat string, no roles, the view last but for ``after``.

        Raises ValueError when the view is not the one that the judge sees.
        """
        if (view.steps is None) != (self.sees == "outcome"):
            raise ValueError(f"a judge that sees the {self.sees} view was handed the other one")
        return f"{self.before}{render_view(view)}\n--- END ---\n{self.after}"

    def stated(self) -> Rubric:
        """The same rubric with the form of the reply in words, for a server that enforces no schema."""
        return replace(self, after=f"{self.after}{reply_form(self.schema)}\n")

    def checksums(self) -> dict[str, str]:
        """Checksums of the constant text and of the schema (in property order)."""
        return {"prompt_sha256": checksum(self.before + self.after), "schema_sha256": checksum(self.schema)}


_BEFORE: dict[Sees, str] = {
    "outcome": "\n\n".join(
        [_OPENING, PROCEDURE, _OUTCOME_VIEW, f"Failure types:\n{TAXONOMY}", CONFIDENCE, "--- BEGIN ---\n"]
    ),
    "step": "\n\n".join([_OPENING, PROCEDURE, f"{_STEP_VIEW}\n{TAXONOMY}", CONFIDENCE, "--- BEGIN ---\n"]),
}
# Equal to the other prompt up to here, so that a server's prefix cache serves both.
# The form is spelled out: a model that breaks lines as it likes takes three times the tokens for the same word.
_NO_REASONING = (
    'Give no reasoning now. Reply on one line with {"faulty": true} or {"faulty": false} and nothing else.\n'
)

# Property order is generation order: the grammar makes the model reason before it decides.
_REASONED = {"reasoning": {"type": "string"}, "faulty": {"type": "boolean"}}
_STEP = {"failure_step": {"type": ["integer", "null"], "minimum": 0}}
_DIRECT = _object({"faulty": {"type": "boolean"}})
_NAMED = {"failure_type": _FAILURE_TYPE, "confidence": _CONFIDENCE}

RUBRICS: dict[str, Rubric] = {
    "outcome": Rubric(sees="outcome", before=_BEFORE["outcome"], schema=_object(_REASONED | _NAMED)),
    "step": Rubric(sees="step", before=_BEFORE["step"], schema=_object(_REASONED | _STEP | _NAMED)),
    "direct-outcome": Rubric(sees="outcome", before=_BEFORE["outcome"], after=_NO_REASONING, schema=_DIRECT),
    "direct-step": Rubric(sees="step", before=_BEFORE["step"], after=_NO_REASONING, schema=_DIRECT),
}


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


_DASHES = r"[-‐-―−]{2,}"
_MARKER = re.compile(rf"{_DASHES}\s*(BEGIN|END)\s*{_DASHES}", re.IGNORECASE)
_KEYS = "reasoning|faulty|failure_step|failure_type|confidence"
# A key begins where no letter stands before it, or after an escape (\n, \x0b): a call shows its text escaped.
_KEY_START = r"(?:(?<![a-z])|(?<=\\[nrtvfab])|(?<=\\x[0-9a-f]{2})|(?<=\\u[0-9a-f]{4}))"
_VERDICT_KEY = re.compile(rf"""[\\"']*{_KEY_START}({_KEYS})\b[\\"']*\s*[:=]""", re.IGNORECASE)
_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def neutralise(text: str) -> str:
    """Judged text that can't pass for anything but text: one line, no BEGIN or END marker, no verdict's keys."""
    text = _VERDICT_KEY.sub(r"(\1)", text)
    text = _MARKER.sub(lambda match: f"({match[1].lower()})", text)
    return _LINE_BREAK.sub(r"\\n", text)


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
