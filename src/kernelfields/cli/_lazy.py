"""Commands that are imported when somebody asks for them: ``kf --help`` needs none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from inspect import getdoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ._interrupts import give_up

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
EXAMPLES = "For example:"
"""Begins the last paragraph of a command's docstring; a line each follows."""


@contextmanager
def _plainly() -> Iterator[None]:
    """Answer to signals and to an output that cannot be written, before a command does so itself."""
    try:
        yield
    except KeyboardInterrupt as error:
        give_up(error)
    except OSError:
        from ._errors import plain_errors  # here, because --help need not wait for it

        with plain_errors():
            raise


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name, each imported from the module of its name when it is looked up.

    Parameters
    ----------
    summaries : dict
        From names to what ``kf --help`` says in one line.
    """

    def __init__(self, summaries: dict[str, str]) -> None:
        self.summaries = summaries
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a command, imported if it has not been."""
        if name not in self._loaded and name in self.summaries:
            function = getattr(import_module(f"{__package__}.{name}"), name)
            self._loaded[name] = typer.main.get_command(as_app(name, function, self.summaries[name]))
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        """Add a command that is there already."""
        self._loaded[name] = command
        self.summaries[name] = str(command.short_help or "")

    def __delitem__(self, name: str) -> None:
        """Forget a command."""
        self._loaded.pop(name, None)
        del self.summaries[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names, without an import."""
        return iter(self.summaries)

    def __len__(self) -> int:
        """Count commands, without an import."""
        return len(self.summaries)


class LazyGroup(TyperGroup):
    """A group whose help fits a screen, and whose commands are imported when they are called."""

    lazy: LazyCommands

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = self.lazy

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, without an import."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read words; that imports modules, and may print help or the version."""
        with _plainly():
            return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is interrupted before its own answer to that has begun ends here."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            give_up(error)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write a line for every command and option."""
        self.format_usage(ctx, formatter)
        formatter.write_text(self.help or "")
        with formatter.section("Commands (kf COMMAND --help has options and examples)"):
            formatter.write_dl(list(self.lazy.summaries.items()))
        with formatter.section("Options"):
            records = filter(None, (option.get_help_record(ctx) for option in self.get_params(ctx)))
            formatter.write_dl([(names, text.partition(",")[0].rstrip(".") + ".") for names, text in records])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete names of commands, without an import."""
        if incomplete.startswith("-"):
            return list(super().shell_complete(ctx, incomplete))
        # Newer versions of typer have their own copy of click.
        click = TyperCommand.__bases__[0].__module__.removesuffix(".core")
        item = import_module(f"{click}.shell_completion").CompletionItem
        found = [name for name in self.lazy.summaries if name.startswith(incomplete)]
        return [item(name, help=self.lazy.summaries[name]) for name in found]


class CommandWithExamples(TyperCommand):
    """A command whose help ends with examples, a line each as they are written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read words; that may print help."""
        with _plainly():
            return list(super().parse_args(ctx, args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write everything else first."""
        examples, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        self.epilog = examples
        formatter.write("" if examples is None else f"{examples}\n")


def as_app(name: str, function: Callable[..., None], summary: str) -> typer.Typer:
    """Return a function as a program, with its examples at the end of the help, a line each."""
    text, _, examples = (getdoc(function) or "").partition(f"\n\n{EXAMPLES}")
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    part = typer.Typer(context_settings=HELP_NAMES, add_completion=False)
    epilog = "\n  ".join([EXAMPLES, *lines]) if lines else None
    settings: dict[str, Any] = {"short_help": summary, "epilog": epilog, "cls": CommandWithExamples}
    part.command(name, help=_flowing(text), **settings)(function)
    return part


def _flowing(text: str) -> str:
    """Return paragraphs that are as wide as the terminal, not as the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
