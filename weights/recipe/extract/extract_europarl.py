"""The European Parliament's debates of the first months of 2000, in the spelling of today: the beginning of Europarl, as somebody
committed it beside a program. The Parliament lets everybody use its texts who names the source; the file is apart from the others, so
that it can be left out."""
import re
from extract_common import *
from extract_sentences import add

RULES = [(re.compile(pattern), to) for pattern, to in (
    (r"\b([Dd])aß", r"\1ass"), (r"([Ss]o)daß", r"\1dass"), (r"Rußl", "Russl"), (r"(?<![aeouAEOU])([Ii])ß", r"\1ss"),
    (r"(?i)(\bm|w|\bk|schl|fl|n|\bsch|\bg|dr)uß", r"\1uss"), (r"(?i)((?:aus|zu|vor|über|be|an|ab|ver|auf|ein)sch)uß", r"\1uss"), (r"(?i)(\bm|w|k|schl|fl)üß(?!ig)", r"\1üss"),
    (r"(?i)(l|f|h|n|kr|\bb)aß", r"\1ass"), (r"(?i)(?<!s)paß", lambda m: m[0][:-1] + "ss"), (r"(?i)(l|h|gr|bl|p|\bn|w)äß", r"\1äss"), (r"(?i)(schl|gen)oß", r"\1oss"),
    (r"(?i)(proz|kongr|str|expr|exz|m|verg|pr|erm|unterd|ind)eß", r"\1ess"),
    (r"\b([Pp])otentiell", r"\1otenziell"), (r"\b([Ss])ubstantiell", r"\1ubstanziell"), (r"\bim einzelnen\b", "im Einzelnen"), (r"\bim allgemeinen\b", "im Allgemeinen"), (r"\bim folgenden\b", "im Folgenden"),
    (r"(\d)(jährig|prozentig|stündig|tägig|köpfig)", r"\1-\2"), (r"\b([Ii])n bezug auf\b", r"\1n Bezug auf"), (r"\bum so\b", "umso"), (r"\bzur Zeit\b", "zurzeit"), (r"\bso daß\b", "so dass"), (r"\b([Hh])eute (abend|morgen|nachmittag|vormittag)\b", lambda m: m[1] + "eute " + m[2].capitalize()))]
QUOTES = re.compile(r'(^| )" ([^"]*?) ?"|(^| )"([^"]*?) "')


def reformed(text):
    for pattern, to in RULES:
        text = pattern.sub(to, text)
    return text


def tidy(text):
    text = re.sub(r"\s+", " ", text).strip()
    text = QUOTES.sub(lambda m: (m[1] or m[3] or "") + '"' + (m[2] or m[4] or "").strip() + '"', text)
    text = re.sub(r"(\w)' s\b", r"\1's", text)
    text = re.sub(r"(s)' (?=\w)", r"\1' ", text)
    return re.sub(r" ([,.;:!?])(?=\s|$)", r"\1", text)


def main():
    w, r = Writer("europarl-2000"), Repo("Sandeep-4469/SiMT_NLP")
    a, b = ((r.read("data/train." + end) or "").split("\n") for end in ("en", "de"))  # the other files hold news tests
    if len(a) != len(b):
        raise SystemExit("europarl: %d English and %d German lines, as many were expected" % (len(a), len(b)))
    for x, y in zip(a, b):
        if not re.search(r"\(\s*(?:Applause|Beifall|The |Das Parlament|Die Sitzung|The sitting)", x + y):
            add(w, tidy(x), reformed(tidy(y)), "de")
    w.close()


if __name__ == "__main__":
    main()
