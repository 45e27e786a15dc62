"""`girdle config`: the settings, where they come from, and changing them."""

import json
import os
import sys
from typing import Annotated, Any

import typer

from girdlebook import env_file, settings
from girdlebook.cli.output import COLUMNS, Json, clip, from_argument, notice, out, out_json
from girdlebook.config import Config, field, keys
from girdlebook.errors import ConfigError
from girdlebook.models import check_spec
from girdlebook.profiles import resolve

app = typer.Typer(
    name="config",
    help="Look at the settings and change them.  Names in capitals are secrets and lie in `.env`.",
    add_completion=False,
    rich_markup_mode=None,
)


def _complete(incomplete: str) -> list[str]:
    return [key for key in keys() if key.startswith(incomplete)]


Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="Such as memory.nudge_interval, or a name in capitals.", autocompletion=_complete
    ),
]

_SHOWN_OF_A_SECRET = 4
_KEY_COLUMNS = 34


@app.command("get")
def get(
    context: typer.Context,
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="Without it, all of them.", autocompletion=_complete)
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a setting, or all of them with where each comes from."""
    home = resolve(context.obj)
    if key is not None and env_file.is_name(key):
        known_here, value = os.environ.get(key), os.environ.get(key) or env_file.read(home.env_file).get(key)
        if value is None:
            raise ConfigError(f"{key} is not set; set it with: girdle config set {key}")
        _print_one(key, _masked(value), "environment" if known_here else str(home.env_file), as_json=as_json)
        return
    known = settings.load(home)
    if key is not None and not any(name.startswith(f"{key}.") for name in keys()):
        _print_one(key, known.value(key), known.origin(key), as_json=as_json)
        return
    shown = [name for name in keys() if key is None or name.startswith(f"{key}.")]
    rows = {name: {"value": _plain(known.value(name)), "origin": known.origin(name)} for name in shown}
    if as_json:
        out_json(rows)
        return
    for name, row in rows.items():
        origin = "" if row["origin"] == settings.DEFAULT else f" ({row['origin']})"
        out(f"{name:<{_KEY_COLUMNS}} {clip(_as_text(row['value']) + origin, COLUMNS - _KEY_COLUMNS - 1)}".rstrip())


@app.command("set")
def set_(
    context: typer.Context,
    key: Key,
    value: Annotated[str | None, typer.Argument(metavar="[VALUE]", help="Asked for where it is missing.")] = None,
    as_json: Json = False,
) -> None:
    """Change a setting; comments in config.yaml stay."""
    home = resolve(context.obj)
    secret = env_file.is_name(key)
    if not secret:
        field(key)
    if value is None and not sys.stdin.isatty():
        raise ConfigError(f"what is {key} to be? write the value behind it")
    text = typer.prompt(key, hide_input=secret, err=True) if value is None else from_argument(value)
    if secret:
        settings.check_variable(key, text)
        env_file.set_variable(home.env_file, key, text)
        _print_one(key, _masked(text), str(home.env_file), as_json=as_json)
        return
    if key.endswith(".model") and text:
        check_spec(text)
    understood = settings.set_value(home, key, text)
    origin = settings.load(home).origin(key)
    if origin != str(home.config_file):
        notice(f"it is written, but {origin} says otherwise and counts more")
    _print_one(key, understood, str(home.config_file), as_json=as_json)


@app.command("unset")
def unset(context: typer.Context, key: Key, as_json: Json = False) -> None:
    """Take a setting back, so that its default holds again."""
    home = resolve(context.obj)
    if env_file.is_name(key):
        env_file.unset_variable(home.env_file, key)
    else:
        settings.unset_value(home, key)
    if as_json:
        out_json({"key": key, "unset": True})
    else:
        out(f"{key} is not set any more")


@app.command("path")
def path(context: typer.Context, as_json: Json = False) -> None:
    """Print where the settings lie."""
    home = resolve(context.obj)
    if as_json:
        out_json({"config": str(home.config_file), "env": str(home.env_file)})
    else:
        out(str(home.config_file))


@app.command("explain")
def explain(context: typer.Context, key: Key, as_json: Json = False) -> None:
    """Tell what a setting means, what every layer says of it, and which one holds."""
    if env_file.is_name(key):
        raise ConfigError(f"{key} is a secret and has no explanation here; `girdle config get {key}` shows its end")
    known, info = settings.load(resolve(context.obj)), field(key)
    saying = [layer for layer in known.layers if key in layer.values]
    layers = [{"place": layer.place, "value": _plain(layer.values[key])} for layer in saying]
    if as_json:
        out_json({"key": key, "meaning": info.description, "layers": layers, "holds": layers[-1]["place"]})
        return
    out(f"{key}: {info.description or ''}".rstrip())
    for layer in layers:
        mark = "→" if layer is layers[-1] else " "
        out(f"{mark} {_as_text(layer['value']):<12} {layer['place']}")
    variable = settings.PREFIX + key.upper().replace(".", "__")
    out(f"change it with: girdle config set {key} VALUE, or {variable} in the environment")


@app.command("validate")
def validate(context: typer.Context, as_json: Json = False) -> None:
    """Check config.yaml, `.env` and the environment; 1 where something is wrong."""
    home = resolve(context.obj)
    faults = settings.faults(home)
    if len(faults) > 1 and not as_json:
        for fault in faults[:-1]:
            notice(fault)
    if faults:
        raise ConfigError(faults[-1] if not as_json else " · ".join(faults))
    if as_json:
        out_json({"valid": True, "config": str(home.config_file)})
    else:
        out("the settings are valid")


@app.command("schema")
def schema() -> None:
    """Print the JSON schema of config.yaml, for editors."""
    out_json(Config.model_json_schema())


def _print_one(key: str, value: Any, origin: str, *, as_json: bool) -> None:
    if as_json:
        out_json({"key": key, "value": _plain(value), "origin": origin})
    else:
        out(_as_text(_plain(value)))


def _plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    return json.loads(json.dumps(value, default=str))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _masked(secret: str) -> str:
    shown = secret[-_SHOWN_OF_A_SECRET:] if len(secret) > 4 * _SHOWN_OF_A_SECRET else ""
    return f"•••• {shown}".rstrip()
