"""The options of a command that asks a model, in one place for every such command."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_type_hints

import typer

from lib.errors import UserError
from lib.judging.clients import Client, Decoding, Target, connect

# Bounds that keep a mistyped number from filling memory.
MOST_WORKERS = 1_000
MOST_TOKENS = 100_000_000
LONGEST_WAIT = 1_000_000.0
LARGEST_SEED = 10**15
OLLAMA_CONTEXT = 8192


@dataclass(frozen=True)
class Asking:
    """Which model is asked, where and how; the fields are the options."""

    model: Annotated[str, typer.Option(help="The model's name, as its server knows it.")] = ""
    backend: Annotated[Literal["ollama", "openai"], typer.Option(help="The server's protocol.")] = "ollama"
    base_url: Annotated[
        str | None,
        typer.Option(help="Where it is served: an OpenAI-compatible URL (…/v1); for Ollama a host, else OLLAMA_HOST."),
    ] = None
    header: Annotated[
        list[str] | None,
        typer.Option(
            help="'NAME: VALUE' to send along; '$NAME' as value is read from the environment. May be repeated."
        ),
    ] = None
    context: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_TOKENS, help="Context, in tokens. Ollama: 8192; others are started with theirs."),
    ] = None
    max_tokens: Annotated[int, typer.Option(min=1, max=MOST_TOKENS, help="Cap on generated tokens.")] = 1024
    cap_name: Annotated[
        Literal["max_tokens", "max_completion_tokens", "none"],
        typer.Option(help="What the server calls the cap; none sends none."),
    ] = "max_tokens"
    temperature: Annotated[str, typer.Option(help="A number, or none to leave it out.")] = "0"
    seed: Annotated[str, typer.Option(help="A whole number, or none to leave it out.")] = "7"
    reasoning_effort: Annotated[
        str | None, typer.Option(help="How long a reasoning model thinks, such as low, as its server knows it.")
    ] = None
    think: Annotated[Literal["on", "off"] | None, typer.Option(help="Whether a model thinks that can do without.")] = (
        None
    )
    response_format: Annotated[
        Literal["json_schema", "json_object", "none"],
        typer.Option(help="How the server enforces the reply's form; but for json_schema the prompt states it."),
    ] = "json_schema"
    extra_body: Annotated[str | None, typer.Option(help="Further fields of each request, as a JSON object.")] = None
    timeout: Annotated[float, typer.Option(min=1, max=LONGEST_WAIT, help="Seconds to wait for one reply.")] = 600.0
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Requests in flight at once.")] = 1
    requests_per_minute: Annotated[float | None, typer.Option(min=0.001, help="Most requests sent in a minute.")] = None
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens of prompts.")] = None
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens of replies.")] = None
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler that spreads the requests.")] = None

    def client(self) -> Client:
        """Raises UserError for a model, an address, a key or a header that cannot be used."""
        model = self.model
        if not model.strip():
            raise UserError("These judges ask a model: name one with --model.")
        if model != model.strip() or not model.isprintable():
            raise UserError(
                f"--model {model!a} has blanks around it or characters that can't be shown; give it without."
            )
        return connect(
            Target(
                model=model,
                backend=self.backend,
                base_url=self.base_url,
                headers=tuple(self.header or ()),
                requests_per_minute=self.requests_per_minute,
                price_in=self.price_in,
                price_out=self.price_out,
            )
        )

    def decoding(self) -> Decoding:
        """Raises UserError for a number or an object that is none."""
        seed = _number("--seed", self.seed, int)
        if seed is not None and abs(seed) > LARGEST_SEED:
            raise UserError(f"--seed is beyond {LARGEST_SEED}.")
        return Decoding(
            temperature=_number("--temperature", self.temperature, float),
            seed=seed,
            num_ctx=self.context or (OLLAMA_CONTEXT if self.backend == "ollama" else None),
            max_tokens=self.max_tokens,
            token_cap=self.cap_name,
            reasoning_effort=self.reasoning_effort,
            think=None if self.think is None else self.think == "on",
            response_format=self.response_format,
            extra_body=_object(self.extra_body),
            timeout=self.timeout,
        )


def _number(option: str, text: str, kind: Callable[[str], Any]) -> Any:
    if text.strip().lower() == "none":
        return None
    try:
        value = kind(text)
    except ValueError:
        value = float("nan")
    if not -1e18 < value < 1e18:
        raise UserError(f"{option} {text!r} is no number; give one, or none to leave it out.")
    return value


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UserError("--extra-body is no JSON object; give one, such as '{\"top_p\": 1}'.")
    return value


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of ``Asking``, which it is handed as ``asking``."""

    def run(**options: Any) -> None:
        asking = Asking(**{field.name: options.pop(field.name) for field in fields(Asking)})
        command(asking=asking, **options)

    hints = get_type_hints(command, include_extras=True) | get_type_hints(Asking, include_extras=True)
    own = {name: each.default for name, each in inspect.signature(command).parameters.items() if name != "asking"}
    defaults = own | {field.name: field.default for field in fields(Asking)}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
            for name, default in defaults.items()
        ]
    )
    run.__annotations__ = {name: hints[name] for name in defaults}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
