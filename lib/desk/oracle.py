"""The scripted oracle: six fixed steps that always solve an instance (trajectory-judge, Section 4)."""

from __future__ import annotations

from typing import Any

from lib.desk.environment import Environment, Instance, Move, outcome_matches
from lib.records import Label, Observation, Step, ToolCall, Trajectory

REPLY_STEP = 5


def solve(instance: Instance) -> Trajectory:
    """The clean trajectory of an instance: verify, look up, read the policy, check, refund or escalate, reply.

    Every argument after the first two is read from an observation, and the reply repeats only observed facts.
    """
    desk = Environment(instance)
    steps: list[Step] = []

    def take(thought: str, tool: str, **args: Any) -> Observation:
        call = ToolCall(tool, args)
        observation = desk.call(call)
        steps.append(Step(len(steps), thought, call, observation))
        return observation

    email, order_id = instance.customer.email, instance.order.order_id
    customer = take("I verify the customer before I act on the order.", "get_customer", email=email)
    order = take("I look the order up to learn its item and amount.", "lookup_order", order_id=order_id)
    take("I read the refund policy of the item that was ordered.", "get_policy", sku=order.data["sku"])
    check = take("I confirm eligibility before any money moves.", "check_eligibility", order_id=order_id)
    greeting = f"Hi {customer.data['name']},"
    if check.data["eligible"]:
        amount = check.data["max_refund_eur"]
        thought = "The order is eligible, so I refund exactly the authorised amount."
        refund = take(thought, "issue_refund", order_id=order_id, amount_eur=amount)
        text = f"{greeting} I have refunded EUR {refund.data['refunded_eur']:.2f} for order {order_id}."
    else:
        thought = "The order is not eligible, so I escalate instead of refunding."
        ticket = take(thought, "escalate", reason=check.data["reason"]).data
        text = f"{greeting} I have not refunded order {order_id} ({ticket['reason']}). I have escalated your request."
    take("I tell the customer what was done.", "reply", text=text)
    label = Label(False, None, None, outcome_matches(instance, steps))
    return Trajectory(f"{instance.instance_id}-clean", instance.instance_id, instance.goal, steps, text, label)


def moves_of(trajectory: Trajectory) -> list[Move]:
    """The calls of a trajectory with their thoughts, ready to be edited and replayed."""
    return [Move(step.thought, step.call) for step in trajectory.steps]
