"""Sentence pairs made of sentence pairs: other numbers, dates, names and places on both sides, what people type, and
what they paste. Python's standard library alone; everything is drawn from the random.Random that is handed over.

The source is English. A language is one of NOTATIONS; templates and number words exist where TEMPLATES and WORDS say so."""

import os
import re

# ---- how a language writes what English writes otherwise ----

MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
}
WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
    "ja": "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日".split(),
}
# What stands between thousands and before decimals.
NOTATIONS = {"en": (",", "."), "de": (".", ","), "fr": ("\u202f", ","), "ja": (",", ".")}

ONES = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
ENGLISH_ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
                "eighteen nineteen").split()
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
FRENCH = ("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
          "dix-neuf vingt").split()


def number_words():
    """{lang: {word: number}} from two on: one is an article, too, and its noun a singular."""
    english = {ENGLISH_ONES[n]: n for n in range(2, 20)}
    german = {ONES[n]: n for n in range(2, 20)}
    for i, (ten, zehn) in enumerate(zip(ENGLISH_TENS, TENS)):
        english[ten] = german[zehn] = 20 + 10 * i
        for one in range(1, 10):
            english[f"{ten}-{ENGLISH_ONES[one]}"] = 20 + 10 * i + one
            german[("ein" if one == 1 else ONES[one]) + "und" + zehn] = 20 + 10 * i + one
    return {"en": english, "de": german, "fr": {word: n for n, word in enumerate(FRENCH) if n > 1}}


WORDS = number_words()


def grouped(whole, separator):
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", separator, whole)


def written(lang, whole, fraction="", groups=False):
    """Digits before and behind the decimal sign as the language writes them."""
    thousands, decimal = NOTATIONS[lang]
    return (grouped(whole, thousands) if groups else whole) + (decimal + fraction if fraction else "")


def date_of(lang, day, month, year=None, weekday=None):
    """In the shape that the language prefers. year and weekday may be None; weekday is 0 for Monday."""
    if lang == "ja":
        return (f"{year}年" if year else "") + f"{month}月{day}日" + (f"({WEEKDAYS['ja'][weekday]})" if weekday is not None else "")
    name = MONTHS[lang][month - 1]
    number = {"de": f"{day}.", "fr": "1er" if day == 1 else f"{day}"}.get(lang, f"{day}")
    text = f"{number} {name}" + (f" {year}" if year else "")
    if weekday is None:
        return text
    return f"{WEEKDAYS[lang][weekday]}{',' if lang == 'de' else ''} {text}"


def english_date(random, day, month, year=None, weekday=None):
    name = MONTHS["en"][month - 1]
    text = random.choice([f"{day} {name}", f"{name} {day}{',' if year else ''}", f"{name} {day}{',' if year else ''}"])
    text += f" {year}" if year else ""
    return text if weekday is None else f"{WEEKDAYS['en'][weekday]}, {text}"


# ---- the numbers of a text ----

# Letters of these alone are part of a number's word: Japanese ones stand beside numbers without a blank.
LATIN = "A-Za-z0-9_\u00c0-\u024f"
NUMBER = re.compile(rf"(?<![{LATIN}.,:/+\-])\d+(?:[.,:\u00a0\u202f ](?=\d)\d+)*(?![{LATIN}/\-]|[.,:]\d)")
NUMBER_EN = re.compile(rf"(?<![{LATIN}.,:/+\-])\d+(?:[.,:](?=\d)\d+)*(?![{LATIN}/\-]|[.,:]\d)")


def value_of(token, lang):
    """("time", hour, minute), ("amount", whole, fraction), ("code", token) of a number as the language writes it."""
    token = re.sub(r"(?<=\d)[\u00a0\u202f ](?=\d{3}(?!\d))", NOTATIONS[lang][0], token)
    if re.fullmatch(r"\d{1,2}:\d\d", token):
        return ("time", str(int(token.split(":")[0])), token.split(":")[1])
    thousands, decimal = (re.escape(sign) for sign in NOTATIONS[lang])
    if re.fullmatch(rf"(\d+|\d{{1,3}}({thousands}\d{{3}})+)({decimal}\d+)?", token):
        whole, _, fraction = token.replace(NOTATIONS[lang][0], "").partition(NOTATIONS[lang][1])
        return ("amount", whole, fraction)
    return ("code", token)


def find_numbers(text, lang):
    """[(begin, end, token)]; runs of numbers that blanks part, as of telephones, are one only where they are thousands."""
    pattern = NUMBER_EN if lang in ("en", "ja") else NUMBER
    found = []
    for match in pattern.finditer(text):
        if " " in match[0] and not re.fullmatch(r"\d{1,3}( \d{3})+(,\d+)?", match[0]):
            found += [(match.start() + part.start(), match.start() + part.end(), part[0]) for part in re.finditer(r"\S+", match[0])]
        else:
            found.append((match.start(), match.end(), match[0]))
    return found


def same_number(source_token, target_token, lang):
    value = value_of(source_token, "en")
    if value in (value_of(target_token, lang), value_of(target_token, "en")):
        return True
    return value[0] == "time" and re.fullmatch(rf"0?{value[1]}\.{value[2]}", target_token) is not None


def match_numbers(source, target, lang):
    """[(source span, target span)] of numbers that both sides have once, and whether no number is left on either side."""
    left, right = find_numbers(source, "en"), find_numbers(target, lang)
    pairs = []
    for a in left:
        equal = [b for b in right if same_number(a[2], b[2], lang)]
        if len(equal) == 1 and sum(same_number(c[2], equal[0][2], lang) for c in left) == 1:
            pairs.append((a, equal[0]))
    return pairs, len(pairs) == len(left) == len(right)


def replace_spans(text, spans):
    """spans: [(begin, end, replacement)], apart from each other."""
    for begin, end, replacement in sorted(spans, reverse=True):
        text = text[:begin] + replacement + text[end:]
    return text


def both(text):
    return text, text


def digits(random, n):
    return str(random.randint(1, 9)) + "".join(str(random.randint(0, 9)) for _ in range(n - 1))


def other_amount(random, whole, fraction, lang, is_grouped):
    """(English, the language's) of another number of that kind; never one or zero, whose nouns are other words."""
    if fraction:
        n = random.choice([len(fraction), len(fraction), 1, 2])
        whole, fraction = digits(random, random.choice([len(whole), 1, 2, 3])), digits(random, n)
        groups = len(whole) > 3
        return written("en", whole, fraction, groups), written(lang, whole, fraction, groups)
    if len(whole) == 4 and not is_grouped and 1500 <= int(whole) <= 2100 and random.random() < 0.85:
        year = str(random.randint(1500, 2099) if random.random() < 0.3 else random.randint(1900, 2035))
        return year, year
    n = len(whole) if random.random() < 0.75 else random.choice([1, 2, 2, 3, 3, 4, 5, 6, 7])
    whole = digits(random, n)
    if int(whole) < 2:
        whole = str(random.randint(2, 9))
    groups = len(whole) > 4 or len(whole) == 4 and random.random() < 0.6
    return written("en", whole, "", groups), written(lang, whole, "", groups)


def replaced_number(random, source_token, target_token, target, begin, end, lang):
    """(source's, target's) replacement, or None where it would break the grammar."""
    kind, *parts = value_of(source_token, "en")
    if kind == "time":
        hour, minute = random.randint(0, 23), random.randint(0, 59)
        return f"{hour}:{minute:02}", f"{hour}{'.' if '.' in target_token else ':'}{minute:02}"
    if kind == "code":
        new = re.sub(r"\d", lambda _: str(random.randint(0, 9)), source_token)
        return (new, new) if target_token == source_token else None
    whole, fraction = parts
    if not fraction and (int(whole) < 2 or len(whole) > 1 and whole[0] == "0"):
        return None
    before, behind = target[:begin], target[end:]
    if not fraction and lang in MONTHS and re.search(rf"\b({'|'.join(MONTHS[lang])}) $", before):
        return both(str(random.randint(1900, 2035))) if len(whole) == 4 else None
    if not fraction and (re.match(r"\.\s*\S", behind) or re.match(r"\s*(Uhr|heures?|時|月|日|年|h\b)", behind)):
        if int(whole) > 31:
            return both(str(random.randint(1900, 2035))) if len(whole) == 4 else None
        return both(str(random.randint(2, 12)))
    return other_amount(random, whole, fraction, lang, "," in source_token)


def replace_numbers(random, source, target, lang):
    """The pair with other numbers, or None if it has none that can be matched."""
    pairs, _ = match_numbers(source, target, lang)
    left, right = [], []
    for (begin, end, token), (target_begin, target_end, target_token) in pairs:
        new = replaced_number(random, token, target_token, target, target_begin, target_end, lang)
        if new:
            left.append((begin, end, new[0]))
            right.append((target_begin, target_end, new[1]))
    return (replace_spans(source, left), replace_spans(target, right)) if left else None


def canonical_numbers(source, target, lang):
    """The target with its numbers in its language's notation, where the source says what they are: 1500 for 1,500, and 7.50
    for 7.50, become 1.500 and 7,50, and $7,50 becomes 7,50 $."""
    pairs, _ = match_numbers(source, target, lang)
    spans = []
    for (_, _, token), (begin, end, target_token) in pairs:
        kind, *parts = value_of(token, "en")
        if kind == "amount" and ("," in token or parts[1]):
            new = written(lang, *parts, groups="," in token)
            if new != target_token:
                spans.append((begin, end, new))
    target = replace_spans(target, spans)
    return re.sub(r"([$€£])\s?(\d[\d.]*(?:,\d+)?)", r"\2 \1", target) if lang in ("de", "fr") else target


def words_for_numbers(text, lang):
    """{number: [spans]} of the words of a text that are numbers; in Japanese of its digits, because three cats are 3匹 there."""
    found = {}
    if lang == "ja":
        for begin, end, token in find_numbers(text, lang):
            if token.isdecimal() and text[end:end + 1] != "月":
                found.setdefault(int(token), []).append((begin, end))
        return found
    for match in re.finditer(r"\b[^\W\d_]+(?:-[^\W\d_]+)?\b", text):
        n = WORDS[lang].get(match[0].lower())
        if n:
            found.setdefault(n, []).append(match.span())
    return found


def numbers_for_words(random, source, target, lang):
    """Three cats, drei Katzen: 17 cats, 17 Katzen. None where the words are not on both sides exactly once."""
    left, right = words_for_numbers(source, "en"), words_for_numbers(target, lang)
    numbers = [n for n in left if len(left[n]) == 1 and len(right.get(n, [])) == 1]
    # "halb sieben" and "Viertel vor acht" would not be what the English says.
    if not numbers or sum(map(len, left.values())) != len(numbers) or sum(map(len, right.values())) != len(numbers) \
            or re.search(r"\b(half|quarter|past|hundred|thousand|million)\b", source, re.I):
        return None
    is_hour = re.search(r"o'clock|\bUhr\b|heures?\b|\d時(?!間)", source + target)
    spans = [], []
    for n in numbers:
        if is_hour:
            new = old = str(random.randint(2, 12))
        elif random.random() < 0.4:
            new = old = str(n)
        else:
            new, old = other_amount(random, str(n), "", lang, False)
        spans[0].append((*left[n][0], new))
        spans[1].append((*right[n][0], old))
    return replace_spans(source, spans[0]), replace_spans(target, spans[1])


DATE_EN = re.compile(r"\b(?:(\d{1,2}) (%s)|(%s) (\d{1,2})(?:st|nd|rd|th)?),?(?: (\d{4}))?\b" % (("|".join(MONTHS["en"]),) * 2))


def dates_in(text, lang):
    """[(match, (day, month, year))], each as digits; the year None where there is none."""
    if lang == "ja":
        return [(match, (match[3], match[2], match[1])) for match in re.finditer(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})日", text)]
    if lang == "en":
        return [(match, (match[1] or match[4], str(MONTHS["en"].index(match[2] or match[3]) + 1), match[5])) for match in DATE_EN.finditer(text)]
    pattern = r"\b(\d{1,2}|1er)\.? (%s)(?: (\d{4}))?\b" % "|".join(MONTHS[lang])
    return [(match, (match[1].replace("er", ""), str(MONTHS[lang].index(match[2]) + 1), match[3])) for match in re.finditer(pattern, text)]


def replace_dates(random, source, target, lang):
    """Another date in place of the only one."""
    left, right = dates_in(source, "en"), dates_in(target, lang)
    if len(left) != 1 or len(right) != 1 or left[0][1] != right[0][1]:
        return None
    (a, (_, _, a_year)), (b, _) = left[0], right[0]
    day, month, year = random.randint(1, 28), random.randint(1, 12), random.randint(1900, 2035) if a_year else None
    return (source[:a.start()] + english_date(random, day, month, year) + source[a.end():],
            target[:b.start()] + date_of(lang, day, month, year) + target[b.end():])


# ---- names and places ----

MEN = ("Tom Paul Peter John Ahmed Luca Henry Oliver Mateo Jonas Erik Stefan Marco David Daniel Robert George Frank Martin Simon "
       "Andrew Kevin Brian Walter Arthur Hugo Leon Felix Oscar Ravi Kenji Omar Ivan Pavel Igor Diego Pablo Antonio Pierre Antoine "
       "Liam Noah Ethan Mehmet Emre Yusuf Sven Lars Nils Björn Anton Viktor Karl Otto Emil Rafael Miguel Sanjay Arjun Wei Hiroshi "
       "Thabo Kwame Dmitri Alan Edward Richard Steven Gary Philip Howard").split()
WOMEN = ("Mary Maria Anna Laura Julia Emma Sophie Alice Sarah Hannah Lisa Katrin Petra Monika Elena Olga Fatima Aisha Yuki Mei Priya "
         "Sofia Isabel Carmen Lucia Chiara Giulia Camille Amélie Claire Ingrid Astrid Freya Greta Helena Eva Nora Clara Johanna "
         "Susan Linda Karen Nancy Emily Rachel Rebecca Olivia Zoe Amina Leila Nadia Zeynep Elif Agnes Martha Judith Rosa Teresa "
         "Beatrice Grace Ruth Deborah Heather").split()
SURNAMES = ("Miller Smith Johnson Brown Taylor Wilson Anderson Clark Walker Young Wright Green Baker Carter Mitchell Turner Parker "
            "Collins Morgan Cooper Bailey Howard Ward Brooks Bennett Müller Schmidt Schneider Fischer Weber Wagner Becker Hoffmann "
            "Schäfer Koch Bauer Richter Klein Wolf Schröder Neumann Braun Zimmermann Krüger Hartmann Lange Werner Lehmann Kaiser "
            "García Martínez Fernández Silva Pereira Rossi Bianchi Romano Dubois Laurent Moreau Kowalski Nowak Novák Horváth Popescu "
            "Ivanova Petrov Kuznetsov Yılmaz Demir Kaya Nguyen Tran Kim Park Lee Chen Wang Zhang Tanaka Suzuki Sato Yamamoto Singh "
            "Kumar Patel Sharma Hassan Ali Mohamed Mensah Adeyemi Dlamini Hansen Nielsen Johansson Lindberg Virtanen O'Connor Murphy "
            "van Dijk Jansen de Boer").replace("van Dijk", "van_Dijk").replace("de Boer", "de_Boer").split()
SURNAMES = [name.replace("_", " ") for name in SURNAMES]
COMPANIES = ("Northwind Brightlane Helvar Orbico Kestrel Systems|Meridian Foods|Alpina Logistics|Baltic Shipping|Contrel|Danvers & Co."
             "|Ferrotec|Greenfield Media|Halden Motors|Ionix|Juniper Labs|Lumen Energy|Novatex|Oakridge Bank|Pelican Books|Quantis"
             "|Redwood Partners|Solvera|Tessaro|Unitrade|Vantor|Westport Airlines|Xenolab|Zephyr Solutions").replace("Northwind Brightlane Helvar Orbico", "Northwind|Brightlane|Helvar|Orbico").split("|")
# English, German.
PLACES = [("Boston", "Boston"), ("London", "London"), ("Paris", "Paris"), ("Berlin", "Berlin"), ("Hamburg", "Hamburg"), ("Munich", "München"),
          ("Cologne", "Köln"), ("Vienna", "Wien"), ("Zurich", "Zürich"), ("Geneva", "Genf"), ("Rome", "Rom"), ("Milan", "Mailand"),
          ("Venice", "Venedig"), ("Naples", "Neapel"), ("Florence", "Florenz"), ("Turin", "Turin"), ("Madrid", "Madrid"), ("Barcelona", "Barcelona"),
          ("Seville", "Sevilla"), ("Lisbon", "Lissabon"), ("Porto", "Porto"), ("Prague", "Prag"), ("Warsaw", "Warschau"), ("Kraków", "Krakau"),
          ("Budapest", "Budapest"), ("Bucharest", "Bukarest"), ("Belgrade", "Belgrad"), ("Athens", "Athen"), ("Istanbul", "Istanbul"),
          ("Moscow", "Moskau"), ("Kyiv", "Kiew"), ("Copenhagen", "Kopenhagen"), ("Stockholm", "Stockholm"), ("Oslo", "Oslo"), ("Helsinki", "Helsinki"),
          ("Brussels", "Brüssel"), ("Antwerp", "Antwerpen"), ("Amsterdam", "Amsterdam"), ("The Hague", "Den Haag"), ("Dublin", "Dublin"),
          ("Edinburgh", "Edinburgh"), ("Manchester", "Manchester"), ("New York", "New York"), ("Chicago", "Chicago"), ("Toronto", "Toronto"),
          ("San Francisco", "San Francisco"), ("Washington", "Washington"), ("Mexico City", "Mexiko-Stadt"), ("Havana", "Havanna"), ("Cairo", "Kairo"),
          ("Nairobi", "Nairobi"), ("Cape Town", "Kapstadt"), ("Lagos", "Lagos"), ("Jerusalem", "Jerusalem"), ("Dubai", "Dubai"), ("New Delhi", "Neu-Delhi"),
          ("Mumbai", "Mumbai"), ("Beijing", "Peking"), ("Shanghai", "Shanghai"), ("Tokyo", "Tokio"), ("Osaka", "Osaka"), ("Seoul", "Seoul"),
          ("Singapore", "Singapur"), ("Sydney", "Sydney"), ("Melbourne", "Melbourne"), ("Nuremberg", "Nürnberg"), ("Hanover", "Hannover"),
          ("Leipzig", "Leipzig"), ("Dresden", "Dresden"), ("Frankfurt", "Frankfurt"), ("Stuttgart", "Stuttgart"), ("Basel", "Basel"), ("Bern", "Bern")]
COUNTRIES = [("Germany", "Deutschland"), ("France", "Frankreich"), ("Italy", "Italien"), ("Spain", "Spanien"), ("Portugal", "Portugal"),
             ("Austria", "Österreich"), ("Poland", "Polen"), ("Hungary", "Ungarn"), ("Greece", "Griechenland"), ("Sweden", "Schweden"),
             ("Norway", "Norwegen"), ("Denmark", "Dänemark"), ("Finland", "Finnland"), ("Ireland", "Irland"), ("Japan", "Japan"), ("China", "China"),
             ("India", "Indien"), ("Brazil", "Brasilien"), ("Argentina", "Argentinien"), ("Canada", "Kanada"), ("Mexico", "Mexiko"),
             ("Australia", "Australien"), ("Egypt", "Ägypten"), ("Kenya", "Kenia"), ("South Africa", "Südafrika"), ("South Korea", "Südkorea")]
# English, and the other language.
PLACES_IN = {
    "fr": [(name, dict(london="Londres", munich="Munich", cologne="Cologne", vienna="Vienne", geneva="Genève", florence="Florence", naples="Naples", venice="Venise", lisbon="Lisbonne",
                       brussels="Bruxelles", copenhagen="Copenhague", warsaw="Varsovie", athens="Athènes", moscow="Moscou", beijing="Pékin", seoul="Séoul", hamburg="Hambourg", seville="Séville",
                       edinburgh="Édimbourg", montreal="Montréal", nuremberg="Nuremberg", dresden="Dresde", antwerp="Anvers", barcelona="Barcelone", strasbourg="Strasbourg").get(name.lower(), name))
           for name in ("London Paris Berlin Hamburg Munich Cologne Vienna Zurich Geneva Rome Milan Venice Naples Florence Turin Madrid Barcelona Seville Lisbon Porto Prague Warsaw Budapest "
                        "Athens Istanbul Moscow Copenhagen Stockholm Oslo Helsinki Brussels Antwerp Amsterdam Dublin Edinburgh Manchester Boston Chicago Toronto Montreal Tokyo Osaka Beijing Seoul "
                        "Sydney Nuremberg Dresden Stuttgart Lyon Marseille Nice Toulouse Bordeaux Lille Nantes Strasbourg Rennes Grenoble").split()],
    "ja": [tuple(pair.split("=")) for pair in (
        "London=ロンドン Paris=パリ Berlin=ベルリン Hamburg=ハンブルク Munich=ミュンヘン Cologne=ケルン Vienna=ウィーン Zurich=チューリッヒ Geneva=ジュネーブ Rome=ローマ Milan=ミラノ Venice=ヴェネツィア Naples=ナポリ "
        "Florence=フィレンツェ Madrid=マドリード Barcelona=バルセロナ Lisbon=リスボン Prague=プラハ Warsaw=ワルシャワ Budapest=ブダペスト Athens=アテネ Istanbul=イスタンブール Moscow=モスクワ Copenhagen=コペンハーゲン "
        "Stockholm=ストックホルム Oslo=オスロ Helsinki=ヘルシンキ Brussels=ブリュッセル Amsterdam=アムステルダム Dublin=ダブリン Edinburgh=エディンバラ Manchester=マンチェスター Boston=ボストン Chicago=シカゴ Toronto=トロント "
        "Tokyo=東京 Osaka=大阪 Kyoto=京都 Nagoya=名古屋 Sapporo=札幌 Fukuoka=福岡 Hiroshima=広島 Yokohama=横浜 Kobe=神戸 Nara=奈良 Beijing=北京 Shanghai=上海 Seoul=ソウル Singapore=シンガポール Bangkok=バンコク "
        "Sydney=シドニー Melbourne=メルボルン Frankfurt=フランクフルト Stuttgart=シュトゥットガルト Lyon=リヨン Marseille=マルセイユ Nice=ニース Toulouse=トゥールーズ Bordeaux=ボルドー Strasbourg=ストラスブール Cairo=カイロ "
        "Dubai=ドバイ Mumbai=ムンバイ Washington=ワシントン Seattle=シアトル Vancouver=バンクーバー").split()],
}
# What begins small, or is written as no other word is.
BRANDS = ("iPhone iPad iMac iCloud iTunes iOS iPadOS macOS watchOS tvOS eBay easyJet openSUSE jQuery nginx npm pip git curl vim bash systemd podman webpack pytest ffmpeg rsync sqlite "
          "adidas lastminute mBank dm-drogerie xAI deviantART phpMyAdmin phpBB youtube-dl qBittorrent uTorrent gThumb gEdit kDrive vCard LaTeX TeX GitHub GitLab YouTube WhatsApp LinkedIn "
          "PayPal TikTok PowerPoint OneDrive SharePoint LibreOffice OpenOffice WordPress JavaScript TypeScript MySQL PostgreSQL MongoDB NumPy PyTorch TensorFlow FreeBSD OpenSSL OpenStreetMap "
          "AirPods MacBook ThinkPad PlayStation Xbox Nintendo Spotify Netflix Dropbox Slack Zoom Skype Signal Telegram Firefox Thunderbird Chrome Safari Linux Ubuntu Debian Android Windows").split()
# The names of the sentences that we have, and how the other language may write them.
KNOWN = {"Tom": ("Tom",), "John": ("John", "Johannes"), "Mary": ("Mary", "Maria"), "Alice": ("Alice",), "Bob": ("Bob",), "Jane": ("Jane",)}
FEMALE = {"Mary", "Alice", "Jane"}
SYLLABLES = "ba bel bri cor da del fen ga hal ji kar ko len lo mar mi nak nor o pel ra rin sa sel ta ten ul va ven wil yo za zor".split()


def invented(random):
    return "".join(random.choice(SYLLABLES) for _ in range(random.choice([2, 2, 3]))).capitalize()


def full_name(random, first):
    roll = random.random()
    if roll < 0.55:
        return first
    if roll < 0.75:
        return f"{first} {random.choice(SURNAMES)}"
    return invented(random) if roll < 0.9 else f"{first} {invented(random)}"


def replace_names(random, source, target):
    """Other names for those of KNOWN, the same one wherever one stood."""
    changed = False
    for name, others in KNOWN.items():
        n = len(re.findall(rf"\b{name}\b", source))
        there = [other for other in others if len(re.findall(rf"\b{other}s?\b", target)) == n]
        if not n or not there or re.search(rf"\b{name}['’]?(?=$|\s+(?:and|or) {name})", source) and n > 1:
            continue
        has_genitive = re.search(rf"\b{name}['’]s?\b|\b{there[0]}s\b", source + " " + target)
        pool = WOMEN if name in FEMALE else MEN
        new = full_name(random, random.choice(pool))
        while has_genitive and new[-1] in "sxzß" or new in source:
            new = full_name(random, random.choice(pool))
        source = re.sub(rf"\b{name}\b", lambda _: new, source)
        target = re.sub(rf"\b{there[0]}(s?)\b", lambda match: new + match[1], target)
        changed = True
    return (source, target) if changed else None


def replace_places(random, source, target):
    """Another town or country for the only one (German alone: PLACES)."""
    for names in (PLACES, COUNTRIES):
        found = [(a, b) for a, b in names if re.search(rf"\b{a}\b", source)]
        if len(found) == 1 and all(len(re.findall(rf"\b{name}\b", text)) == 1 for name, text in zip(found[0], (source, target))):
            new = random.choice(names)
            return (re.sub(rf"\b{found[0][0]}\b", new[0], source), re.sub(rf"\b{found[0][1]}\b", new[1], target))
    return None


# ---- placeholders ----

# Those that the server finds (server/text/placeholders.c), and others that the sources hold.
PLACEHOLDER = re.compile(r"%\([^)\s]*\)[a-z]|%(?:\d+\$)?[-+0#]*[\d.]*l*(?:[sSdiufxc]\b|@)|\$?\{\{[^{}]*\}\}|\$?\{[^{}]*\}|\{\$[^{}]*\}|%%\w+%%|%[A-Za-z_]+%|__\w+__")
# Those that will be a whole number, as server/text/placeholders.c knows them.
COUNT = re.compile(r"%(?:\d+\$|\([^)]*\))?[-+0#\d.]*[hlLqjzt]*[diun]|[%$]?\{\{? *(?:n|num|count|number) *\}?\}", re.IGNORECASE)
# Those that the server puts in the place of one; it never uses one that the text has.
STAND_INS = "Maria Anna Julia Laura Paul Peter Berlin Max Bob Ken Boston Tom London John Mary".split()
STAND_IN_NUMBERS = "17 34 58 26 73 41 95 62 87 39 53 78 46 91 67".split()


def placeholders(text):
    return sorted(PLACEHOLDER.findall(text))


def stand_ins(random, source, target):
    """Placeholders as the server shows them to a model: numbers for counts and first names for the others, each another one."""
    found = list(dict.fromkeys(PLACEHOLDER.findall(source)))
    if not found or placeholders(source) != placeholders(target):
        return None
    words = {}
    for all_words, of_kind in ((STAND_IN_NUMBERS, [one for one in found if COUNT.fullmatch(one)]),
                               (STAND_INS, [one for one in found if not COUNT.fullmatch(one)])):
        free = [word for word in all_words if word not in source and word not in target]
        if len(of_kind) > len(free):
            return None
        words.update(zip(of_kind, free if random.random() < 0.5 else random.sample(free, len(free))))
    return tuple(PLACEHOLDER.sub(lambda match: words[match[0]], text) for text in (source, target))


# ---- what is typed and pasted ----

MARKS = (".", "!", "?", "…", ":")


def without_mark(_, source, target):
    if source[-1:] in ".!" and target[-1:] in ".!。" and source[-2:-1] != "." and len(source) > 3:
        return source[:-1], target[:-1]
    return None


def small_first(_, source, target):
    if source[:1].isupper() and not re.match(r"I\b", source) and source[1:2].islower() and source.split()[0] not in KNOWN:
        return source[0].lower() + source[1:], target
    return None


def all_small(_, source, target):
    return (source.lower(), target) if source.lower() != source and not PLACEHOLDER.search(source) else None


def all_capitals(_, source, target):
    if PLACEHOLDER.search(source) or "://" in source or "@" in source or not re.search(r"[a-z]{2}", source) or len(source) > 80:
        return None
    return source.upper(), target.replace("ß", "ẞ").upper().replace("ẞ", "SS")


def title_case(_, source, target):
    words = source.split()
    if not 2 <= len(words) <= 6 or source[-1] in MARKS:
        return None
    return " ".join(word[:1].upper() + word[1:] for word in words), target


def curly(_, source, target):
    return (source.replace("'", "’"), target) if "'" in source else None


def label(random, source, target):
    """As in forms, lists and menus: a number before it, a colon, dots or a value behind."""
    if source[-1:] in MARKS or target[-1:] in MARKS or len(source.split()) > 6:
        return None
    n, code = str(random.randint(1, 40)), make_code(random)
    before = random.choice(["", "", "", f"{n}. ", f"{n}) ", "- ", "• ", "* ", f"[{n}] "])
    behind = random.choice([":", "…", "...", f": {n}", f" ({n})", f" {n}", f": {code}", "" if before else ":"])
    return before + source + behind, before + target + behind


QUOTES = {"de": "„{}“", "fr": "« {} »", "ja": "「{}」"}


def quoted(random, source, target, lang):
    """„Speichern“ in the target's own marks."""
    if source[-1:] in MARKS or len(source.split()) > 5 or '"' in source:
        return None
    left, right = random.choice([('"', '"'), ("“", "”"), ("'", "'")])
    return f"{left}{source}{right}", QUOTES[lang].format(target)


# ---- codes, addresses, amounts: what templates and lists are filled with ----

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


def make_code(random):
    letters = "".join(random.choice(LETTERS) for _ in range(random.randint(1, 4)))
    number = digits(random, random.randint(2, 6))
    return random.choice([f"{letters}-{number}", f"{letters}{number}", f"{number}-{letters}", f"#{number}", f"{digits(random, 3)}-{digits(random, 5)}",
                          f"{letters}-{digits(random, 4)}-{digits(random, 3)}", f"{digits(random, 2)}{letters}{digits(random, 3)}", f"0x{random.getrandbits(24):06X}"])


def make_version(random):
    version = ".".join(str(random.randint(0, 30)) for _ in range(random.choice([2, 3, 3, 3, 4])))
    return random.choice(["", "v", "v"]) + version + random.choice(["", "", "", "-beta", "-rc1", "b2"])


def make_phone(random):
    return random.choice([f"+{random.randint(1, 99)} {digits(random, 2)} {digits(random, 7)}", f"0{digits(random, 3)} {digits(random, 6)}",
                          f"({digits(random, 3)}) {digits(random, 3)}-{digits(random, 4)}", f"+49 {digits(random, 3)} {digits(random, 3)} {digits(random, 4)}",
                          f"0{digits(random, 2)}/{digits(random, 6)}", f"{digits(random, 3)}-{digits(random, 3)}-{digits(random, 4)}"])


def make_url(random):
    host = random.choice(["example", invented(random).lower(), invented(random).lower() + "-" + invented(random).lower()]) + \
        random.choice([".com", ".org", ".de", ".net", ".io", ".co.uk"])
    path = random.choice(["", "", "/", "/" + invented(random).lower(), f"/{invented(random).lower()}/{digits(random, 3)}", f"/?id={digits(random, 4)}", "/index.html"])
    return random.choice(["https://", "https://www.", "http://", "www.", ""]) + host + path


def make_email(random):
    user = random.choice([invented(random).lower(), "info", "support", f"{invented(random).lower()}.{invented(random).lower()}", f"{invented(random).lower()}{digits(random, 2)}"])
    return f"{user}@{invented(random).lower()}{random.choice(['.com', '.org', '.de', '.net'])}"


def make_file(random):
    return invented(random).lower() + random.choice(["", "-" + digits(random, 2), "_" + digits(random, 4)]) + \
        random.choice([".pdf", ".txt", ".docx", ".zip", ".jpg", ".png", ".csv", ".json", ".mp3", ".xlsx", ".c"])


def make_amount(random, lang):
    roll = random.random()
    if roll < 0.3:
        whole, fraction = str(random.randint(2, 99)), ""
    elif roll < 0.5:
        whole, fraction = digits(random, 3), ""
    elif roll < 0.75:
        whole, fraction = digits(random, random.randint(4, 8)), ""
    else:
        whole, fraction = digits(random, random.randint(1, 3)), digits(random, random.choice([1, 1, 2, 3]))
    groups = len(whole) > 4 or len(whole) == 4 and random.random() < 0.7
    return written("en", whole, fraction, groups), written(lang, whole, fraction, groups)


CURRENCIES = [("$", "$", None), ("€", "€", None), ("£", "£", None), ("¥", "¥", None), (None, "Euro", "euros"), (None, "Euro", "euros"), (None, "Dollar", "dollars"),
              (None, "Pfund", "pounds"), (None, "Franken", "francs"), (None, "Kronen", "crowns"), ("EUR ", "EUR", "EUR"), ("USD ", "USD", "USD"), ("CHF ", "CHF", "CHF")]


def make_money(random, lang):
    whole = digits(random, random.choice([1, 2, 2, 3, 3, 4, 5, 6]))
    whole = whole if int(whole) > 1 else "2"
    fraction = random.choice(["", f"{random.randint(0, 99):02}", f"{random.randint(1, 19) * 5:02}"])
    groups = len(whole) > 4 or len(whole) == 4 and random.random() < 0.7
    amount, other = written("en", whole, fraction, groups), written(lang, whole, fraction, groups)
    before, german, behind = random.choice(CURRENCIES)
    if lang != "de":
        sign = random.choice("$€£")
        return sign + amount, f"{other} {sign}" if lang == "fr" else sign + other
    if behind and (not before or random.random() < 0.5):
        return f"{amount} {behind}", f"{other} {german}"
    return f"{before}{amount}", f"{other} {german}"


UNITS = [("metres", "Meter"), ("meters", "Meter"), ("kilometres", "Kilometer"), ("kilometers", "Kilometer"), ("miles", "Meilen"), ("km", "km"), ("kg", "kg"), ("cm", "cm"),
         ("centimetres", "Zentimeter"), ("kilograms", "Kilogramm"), ("grams", "Gramm"), ("tonnes", "Tonnen"), ("litres", "Liter"), ("liters", "Liter"),
         ("millilitres", "Milliliter"), ("square metres", "Quadratmeter"), ("hectares", "Hektar"), ("megabytes", "Megabyte"), ("MB", "MB"), ("GB", "GB"),
         ("gigabytes", "Gigabyte"), ("watts", "Watt"), ("kilowatt-hours", "Kilowattstunden"), ("volts", "Volt"), ("degrees", "Grad"), ("inches", "Zoll"),
         ("hours", "Stunden"), ("minutes", "Minuten"), ("seconds", "Sekunden"), ("milliseconds", "Millisekunden"), ("feet", "Fuß"), ("pages", "Seiten"), ("°C", "°C")]


def make_measure(random, lang):
    amount, other = make_amount(random, lang)
    unit, german = random.choice(UNITS)
    return f"{amount} {unit}", f"{other} {german}"


def make_date(random, lang, with_year=True, with_weekday=False):
    day, month = random.randint(1, 28), random.randint(1, 12)
    year = (random.randint(1900, 2035) if random.random() < 0.4 else random.randint(2015, 2030)) if with_year else None
    weekday = random.randint(0, 6) if with_weekday else None
    return english_date(random, day, month, year, weekday), date_of(lang, day, month, year, weekday)


def make_iso(random, lang):
    return both(f"{random.randint(1990, 2035)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}")


def make_time(random, lang):
    """"9:45", "9:45 Uhr". Whole hours of the afternoon keep their number, since 15 for 3 is a number that the source lacks."""
    hour, minute = random.randint(0, 23), random.randint(0, 59)
    if lang != "de":
        return both(f"{hour}:{minute:02}")
    if random.random() < 0.2:
        hour = random.randint(2, 11)
        behind, when = random.choice([("a.m.", "morgens"), ("am", "morgens")] if hour > 4 else [("p.m.", "nachmittags"), ("pm", "nachmittags")])
        minutes = random.choice(["", f":{minute:02}"])
        return f"{hour}{minutes} {behind}", f"{hour}{minutes} Uhr {when}"
    return f"{hour}:{minute:02}", f"{hour}:{minute:02} Uhr"


def make_clock(random, lang):
    """A time of day as English has it and in the target's own manner: 5:30 p.m. is 17:30 Uhr, 17 h 30, 午後5時30分."""
    hour, minute = random.randint(6, 22), random.choice([0, 0, 0, 30, 15, 45, random.randint(1, 59)])
    minutes, half = f":{minute:02}" if minute else "", hour % 12 or 12
    if minute and random.random() < 0.3:
        english, is_halved = f"{hour}:{minute:02}", False
    else:
        mark = random.choice([" a.m.", " a.m.", " am", "am", " AM"] if hour < 12 else [" p.m.", " p.m.", " pm", "pm", " PM"])
        english, is_halved = f"{half}{minutes}{mark}", True
    if lang == "de":
        return english, f"{hour}{minutes} Uhr"
    if lang == "fr":
        return english, f"{hour} h" + (f" {minute:02}" if minute else "")
    said = f"{'午前' if hour < 12 else '午後'}{half}時" if is_halved and hour != 12 else f"{hour}時"
    return english, said + (f"{minute}分" if minute else "")


def make_city(random, lang):
    """French leaves out those whose article melts with a preposition."""
    if lang == "de":
        return random.choice(PLACES)
    return random.choice(PLACES_IN[lang])


def make_percent(random, lang):
    amount, other = random.choice([make_amount(random, lang), both(str(random.randint(2, 100))), both(str(random.randint(2, 100)))])
    if lang != "de" or random.random() < 0.6:
        return f"{amount}%", f"{other} %" if lang in ("de", "fr") else f"{other}%"
    return f"{amount} {random.choice(['percent', 'per cent'])}", f"{other} Prozent"


def make_ordinal(random, lang):
    n = random.randint(2, 60)
    end = "th" if 10 < n % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{end}", {"de": f"{n}.", "fr": f"{n}e", "ja": f"第{n}"}[lang]


def make_person(random, lang):
    first = random.choice(MEN + WOMEN)
    return both(random.choice([first, f"{first} {random.choice(SURNAMES)}", f"{first} {random.choice(SURNAMES)}", f"{first} {invented(random)}"]))


def make_title(random, lang):
    name = random.choice(SURNAMES) if random.random() < 0.7 else invented(random)
    english, german, french = random.choice([("Mr.", "Herr", "M."), ("Mrs.", "Frau", "Mme"), ("Ms.", "Frau", "Mme"), ("Dr.", "Dr.", "Dr"), ("Professor", "Professor", "Pr"),
                                             ("Mr", "Herr", "M."), ("Ms", "Frau", "Mme")])
    other = {"de": german, "fr": french}.get(lang, english)
    return f"{english} {name}", f"{other} {name}"


SLOTS = {
    "int": lambda random, lang: both(str(random.randint(2, 99) if random.random() < 0.5 else random.randint(100, 999))),
    "small": lambda random, lang: both(str(random.randint(2, 30))),
    "num": make_amount,
    "million": lambda random, lang: (lambda n, d: (written("en", n, d), written(lang, n, d)))(str(random.randint(2, 99)), random.choice(["", digits(random, 1), digits(random, 2)])),
    "pct": make_percent, "money": make_money, "measure": make_measure, "ord": make_ordinal,
    "date": make_date, "iso": make_iso, "time": make_time,
    "daymonth": lambda random, lang: make_date(random, lang, with_year=False),
    "fulldate": lambda random, lang: make_date(random, lang, with_weekday=True),
    "weekday": lambda random, lang: (lambda i: (WEEKDAYS["en"][i], WEEKDAYS[lang][i]))(random.randint(0, 6)),
    "month": lambda random, lang: (lambda i: (MONTHS["en"][i], MONTHS[lang][i]))(random.randint(0, 11)),
    "year": lambda random, lang: both(str(random.randint(1700, 2035) if random.random() < 0.5 else random.randint(1990, 2035))),
    "person": make_person, "title": make_title,
    "man": lambda random, lang: both(full_name(random, random.choice(MEN))), "woman": lambda random, lang: both(full_name(random, random.choice(WOMEN))),
    "surname": lambda random, lang: both(random.choice(SURNAMES)), "company": lambda random, lang: both(random.choice(COMPANIES)),
    "city": make_city, "clock": make_clock, "brand": lambda random, lang: both(random.choice(BRANDS)), "country": lambda random, lang: random.choice(COUNTRIES),
    "code": lambda random, lang: both(make_code(random)), "version": lambda random, lang: both(make_version(random)),
    "phone": lambda random, lang: both(make_phone(random)), "email": lambda random, lang: both(make_email(random)),
    "url": lambda random, lang: both(make_url(random)), "file": lambda random, lang: both(make_file(random)),
    "flight": lambda random, lang: both("".join(random.choice(LETTERS) for _ in range(2)) + random.choice([" ", ""]) + digits(random, random.randint(2, 4))),
    "room": lambda random, lang: both(random.choice([digits(random, 3), digits(random, 2), f"{random.choice('ABCD')}{digits(random, 2)}", f"{digits(random, 1)}.{digits(random, 2)}"])),
    "error": lambda random, lang: both(random.choice(["400", "401", "403", "404", "408", "429", "500", "502", "503", digits(random, 3), digits(random, 4)])),
}
SLOT = re.compile(r"\{([a-z]+)(\d?)\}")


def fill(random, source, target, lang):
    """A template's slots, {int}, {int2}: each the same on both sides."""
    values = {}
    for name, index in SLOT.findall(source):
        values.setdefault(name + index, None)
    for slot in values:
        values[slot] = SLOTS[slot.rstrip("0123456789")](random, lang)
    texts = tuple(SLOT.sub(lambda match: values[match[1] + match[2]][side], text) for side, text in enumerate((source, target)))
    if texts[0].endswith("m.."):  # at 9 p.m.
        texts = texts[0][:-1], texts[1]
    return tuple(text[:1].upper() + text[1:] if template[0] == "{" and not re.match(r"\{(url|email|file|version|code|brand)", template) else text
                 for text, template in zip(texts, (source, target)))


# Greetings and letters; signs and labels; what people say; words that the other sources lack; words, brands and marks alone; shortened words and lists; news; with slots.
EVERYDAY = ("letters", "signs", "talk", "more_talk", "rarer", "fragments", "short", "news", "slots")


def lines_beside(name):
    """The fields of each line of a file beside this one."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file if line.strip()]


def everyday(lang):
    """[(English, the language's)] of the files in everyday/, slots and all."""
    column = ("en", "de", "fr", "ja").index(lang)
    return [(fields[0], fields[column]) for name in EVERYDAY for fields in lines_beside(f"everyday/{name}.tsv")]


def templates(lang):
    """[(source, target)] with slots: of templates.en-LANG.tsv, and those of everyday/."""
    return lines_beside(f"templates.en-{lang}.tsv") + [pair for pair in everyday(lang) if SLOT.search(pair[0])]


def bare(random, lang):
    """What is nothing but a value, and stays itself or changes its notation alone."""
    slot = random.choice(["num", "pct", "money", "measure", "date", "iso", "time", "fulldate", "person", "code", "version", "phone", "email", "url", "file",
                          "title", "company", "year", "clock", "brand"] if lang == "de" else
                         ["num", "pct", "money", "person", "code", "version", "phone", "email", "url", "file", "clock", "brand"])
    return SLOTS[slot](random, lang)


# ---- all of it ----

# How a pair may change, with the share of the pairs that try it; those of one group exclude each other.
CONTENT = {"stand-ins": (stand_ins, 0.5), "dates": (replace_dates, 0.9), "numbers": (replace_numbers, 0.9), "number words": (numbers_for_words, 0.6),
           "places": (replace_places, 0.6), "names": (replace_names, 0.6)}
FORM = {"without mark": (without_mark, 0.10), "small first letter": (small_first, 0.03), "all small": (all_small, 0.03), "capitals": (all_capitals, 0.02),
        "title case": (title_case, 0.08), "curly": (curly, 0.2), "label": (label, 0.08), "quoted": (quoted, 0.03)}
NEEDS_LANGUAGE = {replace_dates, replace_numbers, numbers_for_words, quoted}
GERMAN_ALONE = {replace_places}


def changed(random, source, target, lang):
    """(names of what was done, source, target): each content that applies, then at most one form."""
    done = []
    for name, (function, share) in CONTENT.items():
        if random.random() >= share or function in GERMAN_ALONE and lang != "de" or lang == "ja" and name == "names":
            continue
        new = function(random, source, target, lang) if function in NEEDS_LANGUAGE else function(random, source, target)
        if new and new != (source, target):
            done.append(name)
            source, target = new
    roll = random.random()
    for name, (function, share) in FORM.items():
        roll -= share
        if roll < 0:
            new = function(random, source, target, lang) if function in NEEDS_LANGUAGE else function(random, source, target)
            if new and new != (source, target):
                done.append(name)
                source, target = new
            break
    return done, source, target
