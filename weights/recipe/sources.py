"""Where the sentence pairs come from: what a model's card says, and what prepare.py reads."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    name: str            # of its file, NAME.tsv
    licence: str
    origin: str          # repositories; github.com where nothing else is said
    weight: float = 1.0  # how often a pair is seen in one pass over the data
    cap: int = 0         # at most so many pairs, drawn by the seed; 0: all
    is_interface: bool = True  # short strings, of which several translations are one too many


SHARE_ALIKE = "CC-BY-SA"  # of any version: left out with --no-share-alike
UNKNOWN = "not found"     # left out always

SOURCES = [
    Source("everyday", "Apache-2.0", "written for attentiond: everyday/ of this folder", 6, is_interface=False),
    Source("tatoeba", "CC-BY-2.0-FR", "tatoeba.org; en-de: manythings.org/anki of 2018-05-13; fr: modelexlab/data; ja: manythings.org/anki of 2021-06-21, by way of Lolzyhaxy/experiments", is_interface=False),
    Source("tanaka", "CC-BY-2.0-FR", "Tanaka corpus, by way of odashi/small_parallel_enja", is_interface=False),
    Source("android-aosp", "Apache-2.0", "LineageOS and CyanogenMod apps, Katsuna/public_packages_apps_Settings, Ankits-lab/frameworks_base", 2),
    Source("mozilla-firefox", "MPL-2.0", "Floorp-Projects/Unified-l10n-central, mozilla-l10n/firefox-l10n-source", 2),
    Source("mozilla-thunderbird", "MPL-2.0", "Floorp-Projects/Unified-l10n-central, thunderbird/thunderbird-l10n, thunderbird/thunderbird-l10n-source", 2),
    Source("mozilla-www", "MPL-2.0", "mozilla-l10n/www-l10n", 2),
    Source("mozilla-relay", "MPL-2.0", "mozilla-l10n/fx-private-relay-l10n", 2),
    Source("mozilla-monitor", "MPL-2.0", "mozilla-l10n/monitor-website-l10n", 2),
    Source("mozilla-vpn", "MPL-2.0", "mozilla-l10n/mozilla-vpn-client-l10n", 2),
    Source("mozilla-focusios", "MPL-2.0", "mozilla-l10n/focusios-l10n", 2),
    Source("android-mozilla", "MPL-2.0", "mozilla-mobile/android-components, mozilla-mobile/fenix, mozilla-mobile/focus-android", 2),
    Source("godot-editor", "MIT", "godotengine/godot-editor-l10n", cap=3000),
    Source("shopware-administration", "MIT", "shopware/administration", 1.5),
    Source("shopware-storefront", "MIT", "shopware/storefront", 1.5),
    Source("dotnet", "MIT", "dotnet/winforms, dotnet/msbuild, NuGet/NuGet.Client (the licence file of the last was not read)", cap=1500),
    Source("osm-tagging", "ISC", "openstreetmap/id-tagging-schema"),
    Source("osm-id-editor", "ISC", "openstreetmap/iD"),
    Source("element-web", "Apache-2.0", "matrix-org/matrix-react-sdk", 1.5),
    Source("android-element", "Apache-2.0", "vector-im/element-android", 1.5),
    Source("dspace", "BSD-3-Clause", "DSpace/dspace-angular", 1.5),
    Source("wagtail", "BSD-3-Clause", "wagtail/wagtail", 1.5),
    Source("wekan", "MIT", "wekan/wekan"),
    Source("mattermost-mobile", "Apache-2.0", "mattermost/mattermost-mobile"),
    Source("rocketchat-mobile", "MIT", "RocketChat/Rocket.Chat.ReactNative"),
    Source("zulip-mobile", "Apache-2.0", "zulip/zulip-mobile"),
    Source("node-red", "Apache-2.0", "node-red/node-red"),
    Source("jupyterlab", "BSD-3-Clause", "jupyterlab/language-packs"),
    Source("gogs", "MIT", "gogs/gogs"),
    Source("kubernetes-dashboard", "Apache-2.0", "kubernetes/dashboard"),
    Source("android-wikipedia", "Apache-2.0", "wikimedia/apps-android-wikipedia", 2),
    Source("android-thunderbird", "Apache-2.0", "thunderbird/thunderbird-android", 2),
    Source("android-pocket-casts", "MPL-2.0", "Automattic/pocket-casts-android", 1.5),
    Source("android-corona-warn", "Apache-2.0", "corona-warn-app/cwa-app-android", 2),
    Source("nuxeo-web-ui", "Apache-2.0", "nuxeo/nuxeo-web-ui"),
    Source("libreoffice-online", "MPL-2.0", "LibreOffice/online"),
    Source("libreoffice-online-po", "MPL-2.0", "LibreOffice/online"),
    Source("syncthing", "MPL-2.0", "syncthing/syncthing"),
    Source("lighthouse", "Apache-2.0", "GoogleChrome/lighthouse"),
    Source("flutter-gallery", "BSD-3-Clause", "flutter/gallery", 1.5),
    Source("openrefine", "BSD-3-Clause", "OpenRefine/OpenRefine"),
    Source("solidus", "BSD-3-Clause", "solidusio/solidus, solidusio/solidus_i18n", 2),
    Source("spree", "BSD-3-Clause", "spree/spree, spree-contrib/spree_i18n", 2),
    Source("sylius", "MIT", "Sylius/Sylius", 1.5),
    Source("django-oscar", "BSD-3-Clause", "django-oscar/django-oscar", 1.5),
    Source("bagisto", "MIT", "bagisto/bagisto", cap=2000),
    Source("saleor-dashboard", "BSD-3-Clause", "saleor/saleor-dashboard"),
    Source("fat-free-crm", "MIT", "fatfreecrm/fat_free_crm", 1.5),
    Source("indico", "MIT", "indico/indico", cap=4000),
    Source("kanboard", "MIT", "kanboard/kanboard"),
    Source("grav-admin", "MIT", "getgrav/grav-plugin-admin", 1.5),
    Source("bookstack", "MIT", "BookStackApp/BookStack", 2),
    Source("free-online-office", "MPL-2.0", "freeonlineoffice/online, after Collabora's", 2),
    Source("free-online-office-po", "MPL-2.0", "freeonlineoffice/online, after Collabora's", 2),
    Source("visual-editor", "MIT", "wikimedia/VisualEditor", 2),
    Source("jodit", "MIT", "xdan/jodit", 2),
    Source("etherpad", "Apache-2.0", "ether/etherpad-lite", 1.5),
    Source("pinta", "MIT", "PintaProject/Pinta", 2),
    Source("excalidraw", "MIT", "excalidraw/excalidraw", 1.5),
    Source("jitsi-meet", "Apache-2.0", "nordeck/jitsi-meet", 2),
    Source("files", "MIT", "files-community/Files", 2),
    Source("calculator", "MIT", "microsoft/calculator"),
    Source("playnite", "MIT", "JosefNemec/Playnite"),
    Source("home-assistant-ios", "Apache-2.0", "home-assistant/iOS", 1.5),
    Source("video-js", "Apache-2.0", "videojs/video.js"),
    Source("shaka-player", "Apache-2.0", "shaka-project/shaka-player"),
    Source("guacamole", "Apache-2.0", "apache/guacamole-client"),
    Source("horizon", "Apache-2.0", "openstack/horizon", cap=1500),
    Source("rust-book", "MIT OR Apache-2.0", "rust-lang/book, rust-lang-de/rustbook-de", is_interface=False),
    Source("react-docs", "CC-BY-4.0", "reactjs/legacy.reactjs.org, reactjs/{de,fr,ja}.reactjs.org", is_interface=False),
    Source("vue-docs", "CC-BY-4.0", "vuejs/docs, vuejs-translations/docs-{fr,ja}", is_interface=False),
    Source("tldr", "CC-BY-4.0", "tldr-pages/tldr", is_interface=False),
    Source("opensource-guide", "CC-BY-4.0", "github/opensource.guide", 2, is_interface=False),
    Source("python-docs", "CC0-1.0", "python/python-docs-fr", cap=10000, is_interface=False),
    Source("ami-meetings", "CC-BY-4.0", "tsuruoka-lab/AMI-Meeting-Parallel-Corpus", is_interface=False),
    Source("bcontrast-chat", SHARE_ALIKE + "-4.0", "Unbabel/BConTrasT", 2, is_interface=False),
    Source("xquad-wikipedia", SHARE_ALIKE + "-4.0", "deepmind/xquad", 3, is_interface=False),
    Source("mlqe-wikipedia", "CC0-1.0", "sheffieldnlp/mlqe-pe; translators corrected a machine's translations", 4, is_interface=False),
    Source("mt-geneval-wikipedia", SHARE_ALIKE + "-3.0", "amazon-science/machine-translation-gender-eval", 4, is_interface=False),
    Source("paws-x-wikipedia", "free for any purpose", "google-research-datasets/paws, by way of GautamGupta17/MESH; translated by people for Google", 3, is_interface=False),
    Source("mlqa-questions", SHARE_ALIKE + "-3.0", "facebookresearch/MLQA, by way of GautamGupta17/MESH", is_interface=False),
    Source("europarl-2000", "EP reuse notice", "European Parliament, debates of 2000, by way of Europarl and Sandeep-4469/SiMT_NLP; reuse is allowed to who names the source", 2, is_interface=False),
    Source("debian-news", "MIT", "l/debian-webwml, pages since 25 January 2012", 3, is_interface=False),
    Source("debian-security", "MIT", "l/debian-webwml, pages since 25 January 2012", cap=3000, is_interface=False),
    Source("mozilla-campaigns", "MPL-2.0", "mozilla-l10n/engagement-l10n", 3, is_interface=False),
    Source("mozilla-foundation", "MPL-2.0", "mozilla-l10n/fomo-l10n", 2, is_interface=False),
    Source("mozilla-org", "MPL-2.0", "mozilla-l10n/www.mozilla.org", 2, is_interface=False),
    Source("mozilla-legal", SHARE_ALIKE + "-3.0", "mozilla/legal-docs", is_interface=False),
    Source("sky-cultures", SHARE_ALIKE, "Stellarium/stellarium-skycultures, those cultures whose descriptions name this licence", 3, is_interface=False),
    Source("sdg", "MIT", "open-sdg/sdg-translations; texts of the United Nations", 2, is_interface=False),
    Source("tico-19", "CC0-1.0", "tico-19/tico-19.github.io", 3, is_interface=False),
    Source("mgsm", "CC-BY-4.0", "google-research/url-nlp", is_interface=False),
    Source("corona-warn-documents", "Apache-2.0", "corona-warn-app/cwa-documentation", 2, is_interface=False),
    Source("covid-certificate", "MPL-2.0", "admin-ch/CovidCertificate-App-Config-Service", is_interface=False),
    Source("privacy-guides", SHARE_ALIKE + "-4.0", "privacyguides/privacyguides.org, privacyguides/i18n", 1.5, is_interface=False),
    Source("letsencrypt", "MPL-2.0", "letsencrypt/website", is_interface=False),
    Source("twelve-factor", "MIT", "heroku/12factor", is_interface=False),
    Source("bitcoin-org", "MIT", "bitcoin-dot-org/bitcoin.org", is_interface=False),
    Source("monero-site", "BSD-3-Clause", "monero-project/monero-site", is_interface=False),
    Source("monero-guides", "BSD-3-Clause", "monero-project/monero-site", is_interface=False),
    Source("debian-handbook", SHARE_ALIKE + "-3.0", "Debian-VN/debian-handbook; its other licence is GPL-2.0-or-later", is_interface=False),
    Source("gnome-help", "CC-BY-3.0", "GNOME/gnome-user-docs", cap=3000, is_interface=False),
    Source("gnome-help-apps", SHARE_ALIKE + "-3.0", "gnome-user-docs and the help of some sixty applications in Debian's packages, pages that name this licence", is_interface=False),
    Source("libreoffice-help", "MPL-2.0", "LibreOffice 7.4's help, Debian's packages libreoffice-help-*", 0.5, cap=24000, is_interface=False),
    Source("words", SHARE_ALIKE + "-3.0", "English-Japanese words: WikDict by way of Debian's dict-freedict-eng-jpn, and common words of EDRDG's EDICT", 0.3, is_interface=False),
    Source("php-manual", "CC-BY-3.0", "php/doc-en, php/doc-{de,fr,ja}", 0.5, cap=5000, is_interface=False),
    Source("cldr-names", "Unicode-3.0", "unicode-org/cldr-json", is_interface=False),
    Source("cldr-numbers-synthetic", "Unicode-3.0", "unicode-org/cldr-json; made of its patterns", 0.5, is_interface=False),
]

# In one language alone another licence holds.
LICENCE_IN = {("python-docs", "ja"): UNKNOWN}


def licence(source, lang):
    return LICENCE_IN.get((source.name, lang), source.licence)
