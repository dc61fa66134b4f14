"""Makes the manual page and the completions of three shells out of what the program says of itself:

    manual.py PROGRAM attentiond.1 attentiond.bash _attentiond attentiond.fish

The program's --describe prints its verbs, flags and settings as JSON; what is written here is only
what the table of settings cannot know.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time

COLUMNS = 78

DESCRIPTION = """\
attentiond maps the weights of an encoder-decoder Transformer into memory and answers translation requests over HTTP, to
LibreTranslate's contract. A MarianMT or OPUS-MT directory as Hugging Face publishes it is all it needs; models of Marian and CTranslate2
and packages of Argos Translate are served as they lie, too, and many in one daemon. It also shows what the model looked at: the
attention of every layer and head.

The routes are described by the daemon itself, at /docs for people and at /openapi.json for programs."""

SETTINGS = """\
A setting may come from a flag (--max-body-bytes), from the environment (ATTENTIOND_MAX_BODY_BYTES) or from the file that --config
or ATTENTIOND_CONFIG names, a JSON object ("max_body_bytes"); in this order of precedence. An unknown name or a value out of
range is refused. Those marked "fixed" keep their value until the daemon ends; SIGHUP reads the others again."""

SIGNALS = [
    ("SIGTERM, SIGINT", "serve takes no new requests after shutdown_delay_ms, answers those that it has within drain_timeout_ms, and ends. Another one ends the delay, and then the waiting."),
    ("SIGHUP", "serve reads settings and models again, without losing a request. If anything is wrong with them, the log says so and nothing changes."),
]
EXIT = [("0", "Done."), ("1", "It could not be done: a file, the network, the model."), ("2", "Wrong usage or configuration.")]
EXAMPLES = [
    ("Fetch a model from Hugging Face, and serve it:", "attentiond pull opus-mt-en-fr\nattentiond serve"),
    ("See what there is to fetch that translates from English:", "attentiond list --remote en"),
    ("Serve a model on port 5000:", "attentiond serve --model opus-mt-en-fr"),
    ("Serve all models in a directory:", "attentiond serve --models-directory models"),
    ("Translate a file, line by line:", "attentiond translate --model opus-mt-en-fr < text"),
    ("See all settings, with their defaults and reasons:", "attentiond check-config --print-example"),
]


def date():
    """Today, or what whoever wants the same bytes again says (reproducible-builds.org)."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return time.strftime("%Y-%m-%d", time.gmtime(epoch))


def describe(program, *verb):
    result = subprocess.run([program, *verb, "--describe"], capture_output=True, check=True, timeout=60)
    return json.loads(result.stdout)


def flag(setting):
    return setting["key"].replace("_", "-")


# The manual page -------------------------------------------------------------------------------------


def roff(text):
    """Text that troff shows as it is."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w-])--(?=[a-z])", r"\\-\\-", text)
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def paragraph(text):
    return roff(textwrap.fill(" ".join(text.split()), COLUMNS, break_long_words=False, break_on_hyphens=False))


def listing(text):
    return f".RS 4\n.nf\n{roff(textwrap.dedent(text))}\n.fi\n.RE"


def prose(text):
    """Paragraphs; an indented one keeps its lines."""
    parts = [part for part in re.split(r"\n{2,}", text.strip("\n")) if part.strip()]
    return "\n.PP\n".join(listing(part) if part.startswith(" ") else paragraph(part) for part in parts)


def entry(name, value, body):
    head = f"\\fB{roff(name)}\\fR" + (f" \\fI{roff(value)}\\fR" if value else "")
    return f".TP\n{head}\n{body}"


def option_entry(option):
    return entry("--" + option["flag"], option.get("value"), paragraph(option["doc"]))


def limits(setting):
    default = setting["default"]
    known = [] if default == "" else [f"default {json.dumps(default, ensure_ascii=False)}"]
    if setting["type"] in ("integer", "number", "choice"):
        known.insert(0, setting["expected"])
    if setting["is_fixed"]:
        known.append("fixed")
    return f" ({'; '.join(known)})" if known else ""


def setting_entry(setting, verbs):
    text = f"{setting['doc']}{limits(setting)} For: {', '.join(verbs)}."
    value = "[on|off]" if setting["type"] == "boolean" else setting.get("value")
    return entry("--" + flag(setting), value, paragraph(text))


def verb_section(verb):
    parts = [f".SS attentiond {roff(verb['name'])} {roff(verb['synopsis'])}", paragraph(verb["summary"][0].upper() + verb["summary"][1:] + ".")]
    if verb["detail"]:
        parts += [".PP", prose(verb["detail"])]
    return parts + [option_entry(option) for option in verb["options"]]


def all_settings(verbs):
    """[(setting, the verbs that take it)] in the order of the table."""
    found = {}
    for verb in verbs:
        for setting in verb["settings"]:
            found.setdefault(setting["key"], (setting, []))[1].append(verb["name"])
    return list(found.values())


def manual(version, verbs):
    parts = [
        f'.TH ATTENTIOND 1 "{date()}" "attentiond {version}" "User Commands"', ".nh", ".ad l",
        ".SH NAME", "attentiond \\- a translation server for MarianMT and OPUS\\-MT models",
        ".SH SYNOPSIS", ".B attentiond", ".I verb", ".RI [ flags ]", ".br", ".B attentiond \\-\\-help", "|", ".B \\-\\-version",
        ".SH DESCRIPTION", prose(DESCRIPTION),
        ".SH VERBS", "The flags named here are of the command line alone; below, each setting says for which verbs it is.",
    ]
    for verb in verbs:
        parts += verb_section(verb)
    parts += [".SH SETTINGS", prose(SETTINGS)]
    section = None
    for setting, names in all_settings(verbs):
        if setting["section"] != section:
            section = setting["section"]
            parts.append(f".SS {roff(section)}")
        parts.append(setting_entry(setting, names))
    parts.append(".SH SIGNALS")
    parts += [entry(name, None, paragraph(text)) for name, text in SIGNALS]
    parts += [".SH EXIT STATUS"] + [entry(name, None, paragraph(text)) for name, text in EXIT]
    parts.append(".SH EXAMPLES")
    for i, (text, command) in enumerate(EXAMPLES):
        parts += ([".PP"] if i else []) + [paragraph(text), listing(command)]
    return "\n".join(parts) + "\n"


# Completions -----------------------------------------------------------------------------------------


def flags_of(verb):
    """[{flag, value, choices, doc}] of a verb: its own flags and its settings."""
    own = [{"flag": option["flag"], "value": option.get("value"), "choices": [], "doc": option["doc"]} for option in verb["options"]]
    settings = [{"flag": flag(setting), "value": setting.get("value"), "choices": setting.get("choices", []), "doc": setting["doc"]}
                for setting in verb["settings"]]
    return own + settings


def brief(doc):
    """The first sentence, up to a colon or so."""
    return re.split(r"[.:;(](?:\s|$)", doc)[0].strip().replace('"', "")


def bash(verbs):
    names = " ".join(verb["name"] for verb in verbs)
    lines = [
        "# Completion of attentiond for bash, made by packaging/manual.py.",
        "_attentiond() {",
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} flags=",
        "    COMPREPLY=()",
        "    # --flag=value is three words.",
        "    if [ \"$cur\" = = ]; then",
        "        cur=",
        "    elif [ \"$prev\" = = ]; then",
        "        prev=${COMP_WORDS[COMP_CWORD-2]}",
        "    fi",
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
        f"        mapfile -t COMPREPLY < <(compgen -W '{names} help --help --version' -- \"$cur\")",
        "        return",
        "    fi",
        "    case ${COMP_WORDS[1]}:$prev in",
        "    help:help)",
        f"        mapfile -t COMPREPLY < <(compgen -W '{names}' -- \"$cur\")",
        "        return",
        "        ;;",
    ]
    for verb in verbs:
        for known in flags_of(verb):
            if known["choices"]:
                action = f"mapfile -t COMPREPLY < <(compgen -W '{' '.join(known['choices'])}' -- \"$cur\")"
            elif known["value"] in ("DIR", "FILE"):
                kind = "-d" if known["value"] == "DIR" else "-f"
                action = f"compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen {kind} -- \"$cur\")"
            elif known["value"]:
                action = ":"
            else:
                continue
            lines += [f"    {verb['name']}:--{known['flag']})", f"        {action}", "        return", "        ;;"]
    lines += ["    esac", "    case ${COMP_WORDS[1]} in"]
    for verb in verbs:
        lines += [f"    {verb['name']})", f"        flags='{' '.join('--' + known['flag'] for known in flags_of(verb))}'", "        ;;"]
    lines += [
        "    esac",
        "    if [ -n \"$flags\" ] && [ \"${cur:0:1}\" = - ]; then",
        "        mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")",
        "    elif [ -n \"$flags\" ]; then",
        "        compopt -o filenames 2>/dev/null",
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")",
        "    fi",
        "}",
        "complete -F _attentiond attentiond",
    ]
    return "\n".join(lines) + "\n"


def zsh_words(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_flag(known):
    if not known["value"]:
        return f"'--{known['flag']}[{zsh_words(brief(known['doc']))}]'"
    action = {"DIR": "_files -/", "FILE": "_files"}.get(known["value"], "")
    if known["choices"]:
        action = f"({' '.join(known['choices'])})"
    return f"'--{known['flag']}=[{zsh_words(brief(known['doc']))}]:{known['value']}:{action}'"


def zsh(verbs):
    lines = ["#compdef attentiond", "# Completion of attentiond for zsh, made by packaging/manual.py.", "", "_attentiond() {", "    local -a verbs", "    verbs=("]
    lines += [f"        '{verb['name']}:{zsh_words(verb['summary'])}'" for verb in verbs]
    lines += ["    )", "    if (( CURRENT == 2 )); then", "        _describe -t verbs verb verbs", "        _arguments '--help' '--version'", "        return", "    fi",
              "    local verb=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $verb in"]
    for verb in verbs:
        if verb["name"] == "translate":
            rest = ["'*:file:_files'"]
        else:
            rest = [f"'{i + 1}:{'file' if verb['name'] == 'import' else 'text'}:{'_files -/' if verb['name'] == 'import' else ''}'" for i in range(verb["max_arguments"])]
        lines += [f"    {verb['name']})", "        _arguments \\"]
        lines += [" \\\n".join(f"            {argument}" for argument in [zsh_flag(known) for known in flags_of(verb)] + rest), "        ;;"]
    lines += ["    help)", "        _describe -t verbs verb verbs", "        ;;", "    esac", "}", "", "_attentiond \"$@\""]
    return "\n".join(lines) + "\n"


def fish_words(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(verbs):
    names = " ".join(verb["name"] for verb in verbs)
    lines = ["# Completion of attentiond for fish, made by packaging/manual.py.",
             "complete -c attentiond -n __fish_use_subcommand -f -l help -d 'the verbs'",
             "complete -c attentiond -n __fish_use_subcommand -f -l version -d 'the version'",
             f"complete -c attentiond -n '__fish_seen_subcommand_from help' -f -a '{names}'"]
    for verb in verbs:
        lines.append(f"complete -c attentiond -n __fish_use_subcommand -f -a {verb['name']} -d {fish_words(verb['summary'])}")
        for known in flags_of(verb):
            words = [f"complete -c attentiond -n '__fish_seen_subcommand_from {verb['name']}' -l {known['flag']} -d {fish_words(brief(known['doc']))}"]
            if known["choices"]:
                words.append(f"-x -a '{' '.join(known['choices'])}'")
            elif known["value"] == "DIR":
                words.append("-x -a '(__fish_complete_directories)'")
            elif known["value"]:
                words.append("-r" if known["value"] == "FILE" else "-x")
            lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def main(program, *outputs):
    top = describe(program)
    verbs = [describe(program, name) for name in top["verbs"]]
    pages = [manual(top["version"], verbs), bash(verbs), zsh(verbs), fish(verbs)]
    for path, text in zip(outputs, pages, strict=True):
        pathlib.Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
