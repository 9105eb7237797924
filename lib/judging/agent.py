"""A model plays the desk: organic episodes, labelled by the checker and the outcome (trajectory-judge, Section 8).

The label is a lower bound: a fault that no rule sees and that leaves the outcome intact goes unnoticed.
"""

from __future__ import annotations

import json
import math
from typing import Any

from lib.desk.checker import check
from lib.desk.environment import TOOLS, Environment, Instance, Instances, outcome_matches
from lib.errors import UserError
from lib.judging.clients import Client, Decoding
from lib.judging.collect import Making, Task
from lib.judging.llm import model_settings
from lib.judging.neutralise import neutralise
from lib.judging.prompts import DESK, checksum, render_step
from lib.judging.reply import LONGEST_REPLY, storable_text
from lib.records import Label, Step, ToolCall, Trajectory
from lib.run.folder import Run
from lib.trajectories import EPISODES

MOST_STEPS = 10

_INSTRUCTIONS = f"""\
You are a customer-support agent. {DESK.procedure}

Your tools:
- get_customer(email): the customer's record.
- lookup_order(order_id): who bought what, when and for how much.
- get_policy(sku): the refund policy of an item.
- check_eligibility(order_id): whether a refund is allowed, and of what amount.
- issue_refund(order_id, amount_eur): pays money back.
- escalate(reason): hands the request to a person; put the reason in "text".
- reply(text): answers the customer and ends the conversation.

You are shown the goal and the steps taken so far. Choose the one next action as a JSON object: reasoning, then tool,
then the tool's arguments; set the arguments that the tool does not take to null.

GOAL: """

_NULLABLE_TEXT = {"type": ["string", "null"]}
_PROPERTIES: dict[str, Any] = {
    "reasoning": {"type": "string"},
    "tool": {"type": "string", "enum": list(TOOLS)},
    "email": _NULLABLE_TEXT,
    "order_id": _NULLABLE_TEXT,
    "sku": _NULLABLE_TEXT,
    "amount_eur": {"type": ["number", "null"]},
    "text": _NULLABLE_TEXT,
}
ACTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}

# The flat schema has one prose field, which is the reason of an escalation too.
_FIELD_OF = {"reason": "text"}

# A number that JSON can't hold (NaN, 1e999) stays the text it was: a wrong type, which the desk refuses.
_DECODER = json.JSONDecoder(
    parse_float=lambda digits: float(digits) if math.isfinite(float(digits)) else digits,
    parse_constant=lambda name: name,
)


def episodes(run: Run, client: Client, decoding: Decoding, n: int) -> Making:
    """A model that plays the desk on the first ``n`` instances of the run's seed.

    Raises UserError where run.json does not tell the seed of the instances.
    """
    seed = run.manifest.get("dataset", {}).get("seed")
    if type(seed) is not int:
        raise UserError(f"{run.folder}: run.json has no dataset.seed, so there are no instances to play.")
    sums = {"prompt_sha256": checksum(_INSTRUCTIONS), "schema_sha256": checksum(ACTION_SCHEMA)}
    tasks = [
        Task((f"{instance.instance_id}-agent",), f"agent:{client.model}", play, (instance, client, decoding))
        for instance in Instances(seed, n)
    ]
    settings = model_settings(client, decoding) | {"most_steps": MOST_STEPS} | sums
    return Making(EPISODES, "episodes", settings, tasks, "episode")


def prompt(goal: str, steps: list[Step]) -> str:
    """The agent's prompt: constant up to the goal, then grown by each step, so that a server keeps it cached."""
    history = "\n".join(render_step(step) for step in steps) or "none yet"
    return f"{_INSTRUCTIONS}{neutralise(goal)}\nSTEPS SO FAR:\n{history}\nNEXT ACTION:\n"


def read_action(text: str) -> tuple[str, ToolCall] | None:
    """Thought and call of a reply, with only the tool's own fields; None for what is no action, or far too long."""
    if len(text) > LONGEST_REPLY:
        return None
    try:
        action = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(action, dict) or not isinstance(action.get("tool"), str):
        return None
    fields = {name: action.get(_FIELD_OF.get(name, name)) for name in TOOLS.get(action["tool"], {})}
    args = {name: value for name, value in fields.items() if value is not None}
    thought = action.get("reasoning")
    return thought if isinstance(thought, str) else "", ToolCall(action["tool"], args)


def play(instance: Instance, client: Client, decoding: Decoding) -> Trajectory:
    """One episode: it ends at the reply, at an action that can't be read, or after ten steps.

    Raises CallFailed (see ``lib.judging.clients``) when the model gave no answer.
    """
    desk = Environment(instance)
    steps: list[Step] = []
    answer = ""
    while len(steps) < MOST_STEPS:
        completion = client.complete(storable_text(prompt(instance.goal, steps)), ACTION_SCHEMA, decoding)
        action = read_action(completion.text)
        if action is None:
            break
        thought, call = action
        steps.append(Step(len(steps), thought, call, desk.call(call)))
        if call.tool == "reply" and steps[-1].observation.ok:
            answer = call.args["text"]
            break
    label = label_episode(instance, steps)
    return Trajectory(f"{instance.instance_id}-agent", instance.instance_id, instance.goal, steps, answer, label)


def label_episode(instance: Instance, steps: list[Step]) -> Label:
    """The checker's first violation, or faulty without a step or type when only the outcome is wrong."""
    violations, correct = check(instance.goal, steps), outcome_matches(instance, steps)
    if not violations:
        return Label(not correct, None, None, correct)
    first = violations[0]
    return Label(True, first.step if first.step >= 0 else None, first.failure_type, correct)
