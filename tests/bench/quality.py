#!/usr/bin/env python3
"""Translation quality: BLEU and chrF2 against references, and what a precision changes.

    quality.py --attentiond BIN --model DIR [--sources FILE --references FILE] [--sets FILE.tsv ...]
               [--precision fp32,int8] [--beam-size 1,4] [--agreement BIN] [--check] [-- FLAG ...]
    quality.py --hypotheses FILE --references FILE

Files hold one text per line; those of --sets a source, a tab and its reference. What stands behind -- goes to `attentiond translate` as it is. The scores are
those of sacreBLEU's defaults (signatures below). With --agreement, the program of that name beside this file
adds the teacher-forced agreement with fp32. A difference has its 95 % interval beside it; --check fails where that
reaches below what a release may lose against fp32 (LIMITS). numbers% is the share of the lines with numbers that
keep every one, long% that of translations more than twice as long as their reference.
"""

import argparse
import collections
import decimal
import json
import math
import random
import re
import struct
import subprocess
import sys
import time

# BLEU   nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp; tok:char for a line whose reference is written without blanks
# chrF2  nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no
BLEU_ORDER = 4
CHRF_ORDER = 6
CHRF_BETA = 2

# What int8 may cost: points of BLEU and chrF2, and teacher-forced agreement in percent. The points are about twice
# the chance in a thousand pairs, where half an interval is 0.4 BLEU and 0.25 chrF2: a precision that costs nothing
# passes, and one that costs a point of either does not.
LIMITS = {"BLEU": 1.0, "chrF2": 0.5, "agreement": 97.0}

# Paired bootstrap resampling (Koehn 2004): how often, and the seed that makes it the same every time.
N_RESAMPLES = 1000
SEED = 20240512

# A translation is long that has so many characters more than twice its reference: most repeat themselves.
LONG_CHARS = 20

TRANSLATE_TIMEOUT_SECONDS = 3600

# Kana and Chinese characters.
WITHOUT_BLANKS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


# ---- BLEU ----

def tokenize_13a(text):
    """Words and punctuation as NIST's mteval-v13a.pl, for languages in Latin script, sees them."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, character)
    text = f" {text} "
    text = re.sub(r"([{-~[-` -&(-+:-@/])", r" \1 ", text)  # ASCII punctuation but ' , - .
    text = re.sub(r"([^0-9])([.,])", r"\1 \2 ", text)      # . and , stay in numbers only
    text = re.sub(r"([.,])([^0-9])", r" \1 \2", text)
    text = re.sub(r"([0-9])(-)", r"\1 \2 ", text)          # 1980-ies
    return text.split()


def tokenize(text, as_in):
    """The tokens of a text in the language of `as_in`: each character where it is Japanese or Chinese, else 13a's."""
    return list("".join(text.split())) if WITHOUT_BLANKS.search(as_in) else tokenize_13a(text)


def ngrams(sequence, n):
    return collections.Counter(tuple(sequence[i:i + n]) for i in range(len(sequence) - n + 1))


def bleu_counts(hypothesis, reference):
    """What BLEU needs to know of a line: both lengths, then matches and n-grams of each order."""
    hypothesis, reference = tokenize(hypothesis, reference), tokenize(reference, reference)
    counts = [len(hypothesis), len(reference)]
    for n in range(1, BLEU_ORDER + 1):
        found = ngrams(hypothesis, n)
        counts += [(found & ngrams(reference, n)).total(), found.total()]
    return counts


def bleu_of(counts):
    """BLEU of lines whose counts are added up."""
    hypothesis_length, reference_length = counts[:2]
    n_matches, n_all = counts[2::2], counts[3::2]
    if not any(n_matches) or not all(n_all):
        return 0.0
    logs, credit = 0.0, 1.0
    for matches, total in zip(n_matches, n_all):
        if matches == 0:
            credit /= 2
        logs += math.log((matches or credit) / total)
    brevity = min(0.0, 1 - reference_length / hypothesis_length)
    return 100 * math.exp(brevity + logs / BLEU_ORDER)


def bleu(hypotheses, references):
    """Corpus BLEU (Papineni et al. 2002), 0 to 100. An order without a match counts as half a match, the next
    such order as a quarter, and so on ("exp": method 3 of Chen and Cherry 2014, as mteval-v13a.pl does it)."""
    return bleu_of(add_up(count_lines(bleu_counts, hypotheses, references)))


# ---- chrF ----

def chrf_counts(hypothesis, reference):
    """What chrF2 needs to know of a line: for each order matches, n-grams of the hypothesis, of the reference."""
    hypothesis, reference = "".join(hypothesis.split()), "".join(reference.split())
    counts = []
    for n in range(1, CHRF_ORDER + 1):
        found, wanted = ngrams(hypothesis, n), ngrams(reference, n)
        # A reference too short for this order cannot judge it.
        counts += [(found & wanted).total(), found.total() if wanted else 0, wanted.total()]
    return counts


def chrf_of(counts):
    """chrF2 of lines whose counts are added up."""
    n_matches, n_hypothesis, n_reference = counts[0::3], counts[1::3], counts[2::3]
    orders = [i for i in range(CHRF_ORDER) if n_hypothesis[i] and n_reference[i]]
    if not any(n_matches):
        return 0.0
    precision = sum(n_matches[i] / n_hypothesis[i] for i in orders) / len(orders)
    recall = sum(n_matches[i] / n_reference[i] for i in orders) / len(orders)
    factor = CHRF_BETA**2
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall)


def chrf(hypotheses, references):
    """Corpus chrF2 (Popovic 2015), 0 to 100: characters but blanks, precision and recall averaged over the orders
    that both sides have n-grams of."""
    return chrf_of(add_up(count_lines(chrf_counts, hypotheses, references)))


SCORES = {"BLEU": (bleu_counts, bleu_of), "chrF2": (chrf_counts, chrf_of)}


# ---- is a difference more than chance? ----

def count_lines(counts_of, hypotheses, references):
    return [counts_of(hypothesis, reference) for hypothesis, reference in zip(hypotheses, references, strict=True)]


def add_up(counts):
    return [sum(column) for column in zip(*counts)]


def interval(score_of, counts, other_counts):
    """Where the difference of two scores of the same lines lies with 95 % certainty, had others of their kind been
    taken (low, high): of many draws of as many lines, with repetition, the middle 95 %. Both sides get the same
    lines in each draw, so that what is merely hard to translate does not count as a difference."""
    generator = random.Random(SEED)
    n_counts = len(counts[0])
    # All counts of a line side by side in one long integer: a draw is then one sum, which is twenty times as fast.
    form = struct.Struct(f"<{2 * n_counts}Q")
    lines = [int.from_bytes(form.pack(*a, *b), "little") for a, b in zip(counts, other_counts, strict=True)]
    differences = []
    for _ in range(N_RESAMPLES):
        total = form.unpack(sum(generator.choices(lines, k=len(lines))).to_bytes(form.size, "little"))
        differences.append(score_of(total[n_counts:]) - score_of(total[:n_counts]))
    differences.sort()
    tail = round(N_RESAMPLES * 0.025)
    return differences[tail], differences[-1 - tail]


# ---- numbers ----

# A run of digits with what stands between them in numbers: 1,250.5 and 12.05.2024, but 9 and 45 of 9:45.
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# As words: the German ones begin others that are the same number (dreimal), the French ones stand alone.
GERMAN = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf")
FRENCH = ("une?", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze")
# The Japanese ones count something: 一つ, 三人, but not 一緒.
JAPANESE = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
COUNTERS = "つ人日度回匹頭羽個本冊枚番月時年歳才週か箇ヶカケ分秒階杯部台曲行語点泊章巻位組軒通切輪"
MYRIADS = {"": 1, "万": 10**4, "億": 10**8, "兆": 10**12}
THOUSANDS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def numbers(text):
    """The numbers of a text, however their language writes them: 1,250.50 and 1.250,50 are one. What is no amount
    (2.1.3, 12.05.2024) is several numbers, so that a date may change its order."""
    text = re.sub(r"(?<=\d)[\u00a0\u202f'’](?=\d{3}(?!\d))", "", text)  # thousands: 1 250, 1'250
    text = re.sub(r"(\d)\.(\d\d Uhr)", r"\1:\2", text)                # 9.45 Uhr
    found = []
    for number in NUMBER.findall(text):
        separators = re.sub(r"\d", "", number)
        groups = re.split(r"[.,]", number)
        if len(set(separators)) == 2 and separators[-1] not in separators[:-1]:
            found.append("".join(groups[:-1]) + "." + groups[-1])        # 1,250,000.5
        elif separators and all(len(group) == 3 for group in groups[1:]):
            found.append("".join(groups))                                # 1,250,000; also 3.142
        elif len(separators) == 1:
            found.append(".".join(groups))                               # 7.50
        elif set(separators) == {","}:
            found.append(number)                                         # 2,1,3 is no version 2.1.3
        else:
            found += groups
    return collections.Counter(found)


def in_digits(number):
    return f"{number.normalize():f}"


def spelled_in_digits(text):
    """The text with 1250000 for 125万 and 1億5000万, as numbers in digits and large units are written in Japanese."""
    def digits(found):
        terms = re.findall(r"([\d,]+(?:\.\d+)?)([万億兆]?)", found[0])
        return in_digits(sum(decimal.Decimal(number.replace(",", "")) * MYRIADS[unit] for number, unit in terms))

    return re.sub(r"(?:\d[\d,]*(?:\.\d+)?[万億兆])+(?:\d+)?", digits, text)


def without_words_for_thousands(text):
    """The text with 3400000 for 3.4 million, which Japanese has no word for."""
    def digits(found):
        return in_digits(decimal.Decimal(found[1].replace(",", "")) * THOUSANDS[found[2].lower()])

    return re.sub(r"(?i)(\d[\d,]*(?:\.\d+)?) (thousand|million|billion|trillion)\b", digits, text)


def keeps_numbers(source, translation):
    """Whether each number of the source is in the translation; up to twelve it may be a word, in German, French or Japanese."""
    def is_written_out(number):
        if not number.isdecimal() or not 1 <= int(number) <= len(GERMAN):
            return False
        german, french, japanese = (words[int(number) - 1] for words in (GERMAN, FRENCH, JAPANESE))
        return re.search(rf"\b(?:{german}(?!zehn|und|zig|ßig|hundert|tausend)|{french}\b(?!-))"  # but not dreizehn, quatre-vingts
                         rf"|(?<![一二三四五六七八九十百千万]){japanese}[{COUNTERS}]", translation.lower()) is not None

    # 1 250 with an ordinary blank, as a tokenizer leaves it, is one number in French, and may be two.
    joined = re.sub(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)", lambda found: found[0].replace(" ", ""), translation)
    return any(all(map(is_written_out, numbers(wanted) - numbers(text))) for wanted, text in (
        (source, translation), (source, joined), (source, spelled_in_digits(translation)),
        (without_words_for_thousands(source), spelled_in_digits(translation))))


# ---- token agreement ----

def agreement(a, b):
    """(lines that are the same, positions that are the same, positions) of two lists of lists of ids. After the
    first difference translations part, so this is much lower than the teacher-forced agreement."""
    same_lines = sum(x == y for x, y in zip(a, b, strict=True))
    same = sum(i == j for x, y in zip(a, b, strict=True) for i, j in zip(x, y))
    return same_lines, same, sum(max(len(x), len(y)) for x, y in zip(a, b, strict=True))


# ---- the comparison ----

def read_lines(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


def run(command, **arguments):
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=TRANSLATE_TIMEOUT_SECONDS, check=False,
                          **arguments)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    return done.stdout.decode()


def translate(options, sources, precision, beam_size):
    """(texts, lists of ids, seconds)"""
    command = [options.attentiond, "translate", "--json", "--model", options.model, "--precision", precision,
               "--beam-size", beam_size, *options.flags]
    begin = time.monotonic()
    output = run(command, input="".join(source + "\n" for source in sources).encode())
    seconds = time.monotonic() - begin
    # Not splitlines(): a translation may hold other ends of lines.
    lines = [json.loads(line) for line in output.split("\n") if line]
    if len(lines) != len(sources):
        sys.exit(f"{' '.join(command)}: {len(sources)} lines in, {len(lines)} lines out")
    return [line["text"] for line in lines], [line["output_ids"] for line in lines], seconds


def compare(options, sources, references, beam_size):
    """Prints one row per precision; the problems that --check looks for."""
    problems = []
    base = None
    for precision in options.precision:
        texts, ids, seconds = translate(options, sources, precision, beam_size)
        counts = {name: count_lines(counts_of, texts, references) for name, (counts_of, _) in SCORES.items()}
        scores = {name: score_of(add_up(counts[name])) for name, (_, score_of) in SCORES.items()}
        kept = [keeps_numbers(source, text) for source, text in zip(sources, texts) if numbers(source)]
        n_long = sum(len(text) > 2 * len(reference) + LONG_CHARS for text, reference in zip(texts, references))
        kept_percent = f"{100 * sum(kept) / len(kept):.1f}" if kept else "-"
        print(f"{precision:9} {beam_size:>4} {scores['BLEU']:7.2f} {scores['chrF2']:7.2f} {kept_percent:>8}"
              f" {100 * n_long / len(texts):6.1f} {sum(map(len, ids)):8} {seconds:8.1f}", end="")
        if base is None:
            base = counts, scores, ids
            print(flush=True)
            continue
        print(" |", end="")
        for name, (_, score_of) in SCORES.items():
            low, high = interval(score_of, base[0][name], counts[name])
            print(f" {scores[name] - base[1][name]:+6.2f} [{low:+.2f}, {high:+.2f}]", end="")
            problems += check_loss(f"{precision}, beam {beam_size}", name, low, high)
        same_lines, same, positions = agreement(base[2], ids)
        print(f" {100 * same_lines / len(ids):7.1f} {100 * same / positions:9.1f}", flush=True)
    return problems


def check_loss(what, name, low, high):
    """A loss beyond the limit must be all but excluded, so few lines do not pass for want of certainty."""
    if low >= -LIMITS[name]:
        return []
    return [f"{what}: the difference in {name} lies in [{low:+.2f}, {high:+.2f}], expected above -{LIMITS[name]}"]


def force(options, precision):
    output = run([options.agreement, "--json", "--model", options.model, "--input", options.sources, "--precision",
                  precision])
    result = json.loads(output)
    print(f"{precision} behind fp32's greedy words: {result['percent']:.2f} % of {result['positions']} tokens the same")
    if result["percent"] < LIMITS["agreement"]:
        return [f"{precision}: teacher-forced agreement {result['percent']:.2f} %, expected {LIMITS['agreement']} %"]
    return []


def read_pairs(options):
    """[(name, sources, references)]"""
    found = []
    if options.sources:
        sources, references = read_lines(options.sources), read_lines(options.references)
        if len(sources) != len(references):
            sys.exit(f"{len(sources)} sources, but {len(references)} references")
        found.append((options.sources, sources, references))
    for path in options.sets:
        lines = [line.split("\t") for line in read_lines(path)]
        for i, line in enumerate(lines):
            if len(line) != 2:
                sys.exit(f"{path}: line {i + 1}: expected a source, a tab and a reference, found {len(line) - 1} tabs")
        found.append((path, [line[0] for line in lines], [line[1] for line in lines]))
    return found


def compare_all(options):
    problems = []
    for name, sources, references in read_pairs(options):
        n_numbers = sum(bool(numbers(source)) for source in sources)
        print(f"{name}: {len(sources)} lines, {n_numbers} with numbers; differences are from {options.precision[0]}: "
              "points with their 95 % intervals, and % that are the same")
        print("precision beam    BLEU   chrF2 numbers%  long%   tokens  seconds |  +BLEU                 +chrF2"
              "                   lines positions")
        problems += [p for beam_size in options.beam_size for p in compare(options, sources, references, beam_size)]
    if options.agreement and options.sources:
        problems += [p for precision in options.precision if precision != "fp32" for p in force(options, precision)]
    if options.check:
        for problem in problems:
            print(problem)
        sys.exit(1 if problems else 0)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def listed(text):
        return text.split(",")

    parser.add_argument("--attentiond", metavar="BIN", help="the program")
    parser.add_argument("--model", metavar="DIR")
    parser.add_argument("--sources", metavar="FILE")
    parser.add_argument("--references", metavar="FILE")
    parser.add_argument("--sets", metavar="FILE", nargs="+", default=[], help="pairs of source and reference")
    parser.add_argument("--hypotheses", metavar="FILE", help="only score these translations")
    parser.add_argument("--precision", metavar="P,...", type=listed, default=["fp32", "int8"])
    parser.add_argument("--beam-size", metavar="N,...", type=listed, default=["1", "4"])
    parser.add_argument("--agreement", metavar="BIN", help="the program beside this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 beyond the limits")
    own, flags = arguments, []
    if "--" in arguments:
        own, flags = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    options = parser.parse_args(own)
    options.flags = flags
    if bool(options.references) != bool(options.sources or options.hypotheses):
        parser.error("--references belong to --sources or --hypotheses")
    if not options.hypotheses and not (options.attentiond and options.model and (options.sources or options.sets)):
        parser.error("--attentiond, --model and --sources or --sets are needed, or --hypotheses")
    return options


def main():
    options = parse(sys.argv[1:])
    if not options.hypotheses:
        return compare_all(options)
    hypotheses, references = read_lines(options.hypotheses), read_lines(options.references)
    if len(hypotheses) != len(references):
        sys.exit(f"{len(hypotheses)} hypotheses, but {len(references)} references")
    print(f"BLEU {bleu(hypotheses, references):.2f}, chrF2 {chrf(hypotheses, references):.2f}")


if __name__ == "__main__":
    main()
