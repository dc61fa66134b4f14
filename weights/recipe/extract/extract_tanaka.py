"""Everyday sentences of the Tanaka corpus, which has gone up in Tatoeba, in the selection of odashi/small_parallel_enja: 4 to 16
English words in small letters, and the words of both languages apart."""
import re
from extract_common import *

CAPITALS = {name.lower(): name for name in """
ABC Africa AIDS Akasaka Akiko Akira Alaska Alice America American Americans Amsterdam Amy Anderson Ann Anne April Arabic Atsushi August Australia
Australians Austria Barbara Beethoven Ben Bennett Betty Bible Biwa Bob Boston Brazil Brian Britain British Brooke California Canada Canadian Carl
Cathy CD CDs Chicago China Chinese Chopin Chris Christmas Colcott Columbus Curtis Dan Dave David Debbie December Denmark Detroit DJ Dr. Dutch Edison
Egypt Einstein Ellen Emi Emily England English Englishman Englishmen Europe European February Floyd Ford France François Fred French Frenchman Friday
Fujimori Fukuoka Gates George German Germany God Greek Greeks Gulf Hakata Hamlet Hanako Harajuku Harry Haruki Harvard Hashimoto Hawaii Helen Henry
Hilton Himeji Hirayama Hiroshima Hisashi Hokkaido Honda Honolulu Hyogo Ichiro ID India Indians Isao Italian Italy Ito James Jane January Japan
Japanese Jill Jim Jiro Joan John Johnnie Johnny Johnson Jones Jordan Judy July June Kanda Karen Karuizawa Kate Kato Kazuko Keiko Ken Kenji Kennedy
Kimura Kleenex Kobe Kumi Kushiro Kyoto Kyushu Linda Liverpool London Lucifera Madonna Manhattan March Mary Masako Masao Mashuu Matsue Mayuko Mayumi
McDonald Mediterranean Meg Mexico Midori Mie Miho Mika Ming Misako Monday Mondays Mr. Mrs. Ms. Nagasaki Nagoya Nakano Nancy Naoko Naomi Nara Narita
NASA Ned Nicole Niigata Nikko Nikon Nile Nobuyuki Nora November NTT Obihiro October OK Okayama Okinawa Ooita Osaka Paris Patricia Paul Paula Peter
Picasso Pochi Riviera Robert Rome Russian Sachiko Sam Sanda Sapporo Sasaki Sasayama Saturday Saturdays Seattle Sendai Shakespeare Shibuya Shikoku
Shinano Shinjuku Shizuoka Shounan Simon Singapore Smith Smiths Soseki Spain Spanish Spencer Spielberg States Stella Steve Sunday Sundays Susan Susie
Switzerland Sydney Tamori Tanaka Tani Taniguchi Taro Texas Thai Thanksgiving Thomas Thursday Tim Tokyo Tom Tommy Tony Toshio Totoro Towada Toyota
Tsubasa Tuesday TV U.S. Ueno UFO UFOs United USA Vienna Wakahata Wednesday Yale Yamada Yatarou Yoko Yokohama York Yoshida Yoshio Yumi Yumiko Yuri
Zambia""".split()}
ENDS = {".", "?", "!"}
LEFT = re.compile(r" (?='(?:s|m|t|d|re|ll|ve|clock)\b|[.,?!:;%])|(?<=\bo) (?=')")


def written(line):
    """English as it is written, or None where its quotation marks do not tell which word they belong to."""
    words, begins = line.split(), True
    if not words or {"''", "'", "``", '"', "-lrb-", "-rrb-"} & set(words):
        return None
    for i, word in enumerate(words):
        word = CAPITALS.get(word, "I" if word == "i" else word)
        words[i] = word[:1].upper() + word[1:] if begins else word
        begins = word in ENDS
    return LEFT.sub("", " ".join(words))


def main():
    w, r = Writer("tanaka"), Repo("odashi/small_parallel_enja")
    for part in range(5):
        a, b = ((r.read("train.%s.%03d" % (l, part)) or "").split("\n") for l in ("en", "ja"))
        if len(a) != len(b):
            raise SystemExit("tanaka: %d English and %d Japanese lines, as many were expected" % (len(a), len(b)))
        for x, y in zip(a, b):
            x = written(x)
            if x:
                w.add(x, re.sub(r"(?<=[^ -~]) +| +(?=[^ -~])", "", y), "ja")
    w.close()


if __name__ == "__main__":
    main()
