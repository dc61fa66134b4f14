/* The rows for settings of the server. */
#include "config/rows.h"

const struct mt_setting mt_rows_daemon[] = {
    {
        .section = "Network",
        FIELD(host),
        .is_common = true,
        .value_name = "H",
        .type = MT_SETTING_STRING,
        .low = 1,
        .high = 255,
        .default_string = "127.0.0.1",
        .verbs = DAEMON | MT_VERB_HEALTHCHECK,
        .is_fixed = true,
        .doc = "Address that the daemon listens on. Only this machine by default, since without "
               "api_keys_file and limits anybody may use it; 0.0.0.0 for every interface.",
    },
    {
        .section = "Network",
        FIELD(port),
        .is_common = true,
        .value_name = "P",
        .type = MT_SETTING_INTEGER,
        .high = 65535,
        .default_number = 5000,
        .verbs = DAEMON | MT_VERB_HEALTHCHECK,
        .is_fixed = true,
        .doc = "TCP port. 0 lets the system choose a free one, which the log names. The default "
               "is where clients of translation servers look first.",
    },
    {
        .section = "Network",
        FIELD(max_connections),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 65536,
        .default_number = 0,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc =
            "Connections open at once. One more closes the one that has been idle for longest, of "
            "the address that has most of them, so that nobody keeps others out by connecting; "
            "where none is idle it is answered with 503. Each costs a descriptor and up to 32 KiB. "
            "0: 1024, which is more than a proxy in front usually keeps open, or as many as the "
            "limit on open files (ulimit -Hn) has room for.",
    },
    {
        .section = "Network",
        FIELD(request_timeout_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 3600000,
        .default_number = 60000,
        .verbs = DAEMON,
        .doc = "Time for one request from its arrival to its reply; then it is answered with 504 "
               "and its work is dropped. Clients give up after 10 to 60 seconds, so longer would "
               "translate for nobody.",
    },
    {
        .section = "Network",
        FIELD(idle_timeout_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 1000,
        .high = 3600000,
        .default_number = 60000,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "A connection on which nothing moves for so long is closed. Long enough for a "
               "client to use its connection again, short enough that forgotten ones do not add "
               "up.",
    },
    {
        .section = "Network",
        FIELD(header_timeout_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 100,
        .high = 3600000,
        .default_number = 10000,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "A new connection's first request line, and the headers of any request, must be "
               "complete after so long, or the connection is closed. Real clients need a "
               "fraction of a second.",
    },
    {
        .section = "Network",
        FIELD(body_timeout_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 100,
        .high = 3600000,
        .default_number = 30000,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "A request's body must be complete so long after its headers, however steadily it "
               "trickles in.",
    },
    {
        .section = "Network",
        FIELD(stream_keepalive_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 100,
        .high = 60000,
        .default_number = 15000,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "A streamed reply that has had nothing to say for so long, because it waits for its "
               "turn, gets a comment, so that nobody on the way takes the connection for dead. "
               "Proxies wait for 30 to 60 seconds.",
    },
    {
        .section = "Network",
        FIELD(shutdown_delay_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .high = 3600000,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "After SIGTERM: time in which /health/ready answers 503 while everything else goes "
               "on, before no connection is accepted any more. For balancers that ask from time to "
               "time: as long as they take to notice. 0, as without one it only makes the end "
               "later.",
    },
    {
        .section = "Network",
        FIELD(drain_timeout_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .high = 3600000,
        .default_number = 30000,
        .verbs = DAEMON,
        .doc = "After SIGTERM and shutdown_delay_ms: time for accepted requests to finish. As long "
               "as Kubernetes waits before it kills.",
    },
    {
        .section = "Network",
        FIELD(max_body_bytes),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .low = 1024,
        .high = 67108864,
        .default_number = 262144,
        .verbs = DAEMON,
        .doc = "Largest request body; larger ones get 413. 256 KiB is a long chapter of text, and "
               "what a connection may cost in memory.",
    },
    {
        .section = "Network",
        FIELD(web_page),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 1,
        .verbs = DAEMON,
        .doc = "Whether GET / is the page to translate and look at the attention with. It is part "
               "of the program and loads nothing from elsewhere; off for servers that only "
               "programs talk to.",
    },
    {
        .section = "Network",
        FIELD(frame_ancestors),
        .value_name = "LIST",
        .if_repeated = MT_SETTINGS_WITH_COMMAS,
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .doc = "Sites whose pages may show the page at / in a frame, as course pages and notebooks "
               "do: origins, https://example.org,http://localhost:8888, or * for all. Empty: none, "
               "because a site could lay a frame under its own buttons and have its visitors click "
               "in it.",
    },
    {
        .section = "Network",
        FIELD(cors_origins),
        .value_name = "LIST",
        .if_repeated = MT_SETTINGS_WITH_COMMAS,
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "*",
        .verbs = DAEMON,
        .doc =
            "Sites whose pages may read replies in a browser (CORS): * for all, as LibreTranslate "
            "has it, because no browser has a login here that a site could use; or origins, "
            "https://example.org,http://localhost:3000; empty: the server's own pages alone. "
            "Unless it is *, a server on a loopback address answers 403 to requests for any "
            "other host's name, which somebody may have made mean this machine.",
    },
    {
        .section = "Network",
        FIELD(tls_certificate),
        .is_common = true,
        .value_name = "FILE",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON | MT_VERB_HEALTHCHECK,
        .is_fixed = true,
        .doc = "Certificate chain in PEM, the server's own first: with it, and tls_key, the daemon "
               "speaks TLS 1.2 and 1.3 on its port, and nothing else. SIGHUP reads both files "
               "again. Empty: no TLS, because a proxy in front usually does that.",
    },
    {
        .section = "Network",
        FIELD(tls_key),
        .value_name = "FILE",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "The certificate's private key in PEM, without a passphrase.",
    },
    {
        .section = "Files",
        FIELD(files_translation),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 1,
        .verbs = DAEMON,
        .doc =
            "Whether POST /translate_file translates files (docs/documents.md lists the formats). "
            "The words of one count as one text, which max_text_chars limits; "
            "max_document_bytes limits the file.",
    },
    {
        .section = "Files",
        FIELD(max_document_bytes),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .low = 1024,
        .high = 67108864,
        .default_number = 33554432,
        .verbs = DAEMON,
        .doc = "Largest file that POST /translate_file takes; larger ones get 413. 32 MiB hold the "
               "pictures of most reports. Only words count against max_text_chars.",
    },
    {
        .section = "Files",
        FIELD(max_documents),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1024,
        .default_number = 4,
        .verbs = DAEMON,
        .doc = "Files longer than max_body_bytes that are received and translated at a time; a "
               "further one gets 503 with Retry-After before its bytes are taken in. Each may come "
               "to need 8 times max_document_bytes, so that 4 take 1 GiB.",
    },
    {
        .section = "Files",
        FIELD(max_document_jobs),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1024,
        .default_number = 32,
        .verbs = DAEMON,
        .doc = "Files that POST /v2/document has accepted and that are not translated yet; a "
               "further one gets 503 with Retry-After. Each may come to need 6 times "
               "max_body_bytes, so that 32 take 48 MiB; those that are longer count against "
               "max_documents, too.",
    },
    {
        .section = "Files",
        FIELD(document_timeout_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 1000,
        .high = 604800000,
        .default_number = 3600000,
        .verbs = DAEMON,
        .doc = "How long the translation of a file may take that POST /v2/document has accepted. "
               "An hour is enough for a book. As long as one runs, a reload that exchanges the "
               "default model waits.",
    },
    {
        .section = "Files",
        FIELD(files_lifetime_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .low = 1000,
        .high = 604800000,
        .default_number = 1800000,
        .verbs = DAEMON,
        .doc = "How long a translated file can be fetched. Half an hour is enough for a person; "
               "until then whoever knows its name, which cannot be guessed, may read it.",
    },
    {
        .section = "Files",
        FIELD(max_files_bytes),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .low = 1024,
        .high = 1e12,
        .default_number = 67108864,
        .verbs = DAEMON,
        .doc = "Most memory, or room in files_directory, of all translated files that wait to be "
               "fetched. Where one finds no room, those that were fetched go, then those of the "
               "client that holds most; a client that holds most itself gets 503. 64 MiB are two "
               "files of max_document_bytes, or 600 films' subtitles.",
    },
    {
        .section = "Files",
        FIELD(files_directory),
        .value_name = "DIR",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Where translated files wait to be fetched: a directory of the daemon's user, which "
               "replicas may share, so that each of them answers GET /download_file/ for all, and "
               "a restart keeps the files. max_files_bytes and files_lifetime_ms hold for all of "
               "them together; give replicas the same. Empty: in memory, so that nothing of a "
               "text is ever on a disk.",
    },
    {
        .section = "Files",
        FIELD(public_url),
        .value_name = "URL",
        .type = MT_SETTING_STRING,
        .high = 1024,
        .default_string = "",
        .verbs = DAEMON,
        .doc = "Where clients find this server, for links to translated files: behind a proxy "
               "with a path, https://example.org/translate. Empty: what the request's Host and "
               "X-Forwarded-Proto say.",
    },
    {
        .section = "Data",
        FIELD(data_directory),
        .value_name = "DIR",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Where glossaries and translation memories that clients leave with the server are "
               "kept, in a database of SQLite's that is made there: a directory of the daemon's "
               "user, to be backed up. Empty: none are taken, so that nothing of a text is ever "
               "on a disk.",
    },
    {
        .section = "Data",
        FIELD(database),
        .value_name = "URL",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .is_secret = true,
        .is_fixed = true,
        .doc =
            "The database in which glossaries and translation memories are kept instead, so that "
            "replicas share them: postgresql://user:password@host:port/name, a database of "
            "PostgreSQL's. Best given "
            "in the environment or the file, since everybody on the machine sees flags; "
            "libpq's ?passfile=FILE and its variables, such as PGPASSWORD, do as well. A "
            "process of its own connects to it, and to nothing else. Empty: SQLite's in "
            "data_directory, for which nothing has to be installed or connected to.",
    },
    {
        .section = "Data",
        FIELD(max_data_bytes),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .low = 1048576,
        .high = 1e12,
        .default_number = 1073741824,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Largest database in data_directory. What would make it larger is refused with "
               "503, as where the disk is full; translations go on. 1 GiB is a hundred glossaries "
               "of the largest kind.",
    },
    {
        .section = "Data",
        FIELD(max_glossaries),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1000000,
        .default_number = 1000,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Glossaries of one API key, or, where there are no keys, of all clients together; "
               "a further one gets 413. DeepL allows as many.",
    },
    {
        .section = "Data",
        FIELD(max_glossary_bytes),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .low = 1024,
        .high = 10485760,
        .default_number = 10485760,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Bytes of the terms of one glossary and their translations; more get 413. DeepL "
               "allows as many, some 300,000 terms.",
    },
    {
        .section = "Data",
        FIELD(max_memories),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 10000,
        .default_number = 100,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Translation memories of one API key, or, where there are no keys, of all clients "
               "together; a further one gets 413. Each of them is looked into for texts that are "
               "like one.",
    },
    {
        .section = "Data",
        FIELD(max_memory_units),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1e9,
        .default_number = 2000000,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Units, which are a text and its translation, of one translation memory; more get "
               "413. Two million take some 1 GiB of max_data_bytes.",
    },
    {
        .section = "Data",
        FIELD(suggestions),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Whether POST /suggest, by which clients of LibreTranslate offer a better "
               "translation, keeps it in the translation memory \"suggestions\" of the API key, "
               "or, where there are no keys, of everybody. With data_directory or database.",
    },
    {
        .section = "Access",
        FIELD(api_keys_file),
        .is_common = true,
        .value_name = "FILE",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .doc = "File of API keys, one per line, with limits of their own where that is wanted: KEY "
               "name=alice requests_per_minute=120 chars_per_day=1000000. Clients send theirs as "
               "api_key, or as Authorization: Bearer. SIGHUP reads it again. Empty: there are no "
               "keys, and those that clients send are not looked at.",
    },
    {
        .section = "Access",
        FIELD(key_required),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Whether requests without a key are refused (403). Off, as everybody else may then "
               "use the server within the limits below.",
    },
    {
        .section = "Access",
        FIELD(requests_per_minute),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1e9,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Requests of one client, a key or else an address (IPv6: a /64), before it gets "
               "429; a batch counts as many as it has texts. Lists, pages and health checks are "
               "free. 0: any number, because behind a proxy all clients look like one "
               "(trust_forwarded_for).",
    },
    {
        .section = "Access",
        FIELD(requests_per_hour),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1e9,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "The same for an hour.",
    },
    {
        .section = "Access",
        FIELD(requests_per_day),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1e9,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "The same for a day.",
    },
    {
        .section = "Access",
        FIELD(chars_per_day),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1e12,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Characters that one client may send in a day; requests that fail do not count. 0: "
               "any number, as what they cost is bounded by the queue.",
    },
    {
        .section = "Access",
        FIELD(max_limit_violations),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1e9,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Requests over these limits, or with a wrong key, that a client may send in an hour "
               "before it is banned for an hour (403). 0: never, because most clients that exceed "
               "a limit are only badly written.",
    },
    {
        .section = "Access",
        FIELD(max_client_connections),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 65536,
        .default_number = 0,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Connections open at once from one address (IPv6: a /64), so that nobody takes them "
               "all; one more closes the one of them that has been idle for longest, or gets 429. "
               "Proxies of trust_forwarded_for have no limit. 0: a quarter of max_connections, but "
               "any number from this machine, where the proxy in front usually is.",
    },
    {
        .section = "Access",
        FIELD(max_client_sentences),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1048576,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Sentences of one client, a key or else an address, that wait for a worker; a "
               "request that would make more of them gets 429, unless it is the only one. 0: half "
               "of max_queued_sentences, so that there is room for others, but any number from "
               "this machine without a key.",
    },
    {
        .section = "Access",
        FIELD(admin_socket),
        .value_name = "FILE",
        .type = MT_SETTING_STRING,
        .high = 107,
        .default_string = "",
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Unix socket for administration: POST /reload, GET /stats, GET /models, and POST "
               "/models/ID/load and /models/ID/unload. Whoever may write to the file, at first the "
               "daemon's own user alone, may do that; nobody can over the network. Empty: none, "
               "since signals and metrics do as well.",
    },
    {
        .section = "Access",
        FIELD(metrics_token),
        .value_name = "TOKEN",
        .type = MT_SETTING_STRING,
        .high = 256,
        .default_string = "",
        .is_secret = true,
        .verbs = DAEMON,
        .doc = "What GET /metrics asks for, as Authorization: Bearer TOKEN; others get 401. Best "
               "given in the environment or the file, since everybody on the machine sees flags. "
               "Empty: nothing, because there is nothing personal in the metrics.",
    },
    {
        .section = "Access",
        FIELD(trust_forwarded_for),
        .value_name = "LIST",
        .if_repeated = MT_SETTINGS_WITH_COMMAS,
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Proxies whose X-Forwarded-For says who the client is: addresses and networks, "
               "127.0.0.1,10.0.0.0/8. Empty: the header is not looked at, because from anybody "
               "else it may be a lie.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_text_chars),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 16777216,
        .default_number = 200000,
        .verbs = DAEMON,
        .doc = "Characters of one text. The default is a document of 80 pages, or 30,000 words, "
               "whose sentences fill half of max_queued_sentences; a longer text would keep others "
               "out.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_batch_texts),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 65536,
        .default_number = 4096,
        .verbs = DAEMON,
        .doc =
            "Texts of one request. Clients of web pages send 20 to 400, those that take a film's "
            "subtitles apart 2,000; LibreTranslate sets no limit. More texts than the default "
            "have more sentences than max_queued_sentences lets in, unless many are empty.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_html_tags),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1000000,
        .default_number = 10000,
        .verbs = DAEMON,
        .doc = "Tags of one text of format html; more get 413. A long article has 2,000. The time "
               "to read broken markup grows with the square of their number.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_glossary_terms),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 500,
        .default_number = 500,
        .verbs = DAEMON,
        .doc = "Terms that one request may bring in glossary and do_not_translate together, each "
               "of at most 256 bytes; more get 413. A list of a product's names has a few dozen, "
               "and 500 are what fits beside 256 texts into one JSON document.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_beam_size),
        .value_name = "K",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 16,
        .default_number = 8,
        .verbs = DAEMON,
        .doc = "Largest beam that a request may ask for. A beam costs as much as so many "
               "sentences, and quality stops growing before 8; 16 is the engine's own limit.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_alternatives),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 15,
        .default_number = 7,
        .verbs = DAEMON,
        .doc = "Alternatives that a request may ask for beside the best translation. A beam of k "
               "has k - 1 of them.",
    },
    {
        .section = "Limits of a request",
        FIELD(max_attention_values),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1000000000,
        .default_number = 32000000,
        .verbs = DAEMON | MT_VERB_INSPECT,
        .doc =
            "Numbers that one attention request may trace or get; more get 413. Each takes 4 "
            "bytes of memory while the reply is sent and about 7 as JSON: 32 million are 128 MB, "
            "every head of a bundled model for 512 by 512 tokens. What a search weighed counts "
            "for as many steps as a translation may have. Requests together get twice as many; "
            "others wait their turn (503). Translations take the alignment for their numbers, tags "
            "and placeholders from the same, of only those heads that it is made of; files take it "
            "in steps. Where it is not left, they do without, with the warning \"unaligned\".",
    },
    {
        .section = "Safety",
        FIELD(memory_limit),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .high = 1e15,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "Most memory that these settings and this model may need at worst: connections, "
               "bodies, queue, caches, traces, and a second model while one is reloaded. Settings "
               "that need more are refused at the start, with the parts of the sum; of several "
               "models in models_directory, those whose longest sentences need more stay out. 0: "
               "no limit; the sum is logged in any case.",
    },
    {
        .section = "Safety",
        FIELD(sandbox),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 1,
        .is_fixed = true,
        .verbs = DAEMON,
        .doc = "Whether the daemon gives up what it does not need once it has started: running "
               "programs, connecting anywhere, writing files outside of cache_dir and "
               "files_directory, gaining privileges; as root also reading what the settings of "
               "its start do not name. Uses seccomp and Landlock, as far as the kernel has them. "
               "Off for debuggers and profilers.",
    },
    {
        .section = "Log",
        FIELD(log_level),
        .value_name = "L",
        .type = MT_SETTING_CHOICE,
        .choices = {"debug", "info", "warn", "error", "none"},
        .default_string = "info",
        .verbs = DAEMON,
        .doc = "Least important events that are logged, on standard error. Texts are never "
               "logged.",
    },
    {
        .section = "Log",
        FIELD(log_format),
        .value_name = "F",
        .type = MT_SETTING_CHOICE,
        .choices = {"text", "json"},
        .default_string = "text",
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "A line per event for people, or a JSON object per line for programs that collect "
               "logs.",
    },
    {
        .section = "Log",
        FIELD(log_requests),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "A line per request when it ends, at level info: method, route, status, bytes, the "
               "name of the key, sentences and tokens, models, times in queue, encoder and "
               "decoder, X-Request-ID and the trace's id. Never a text, a query, a key or an "
               "address. Off, because proxies in front have a log of their own and the metrics "
               "count the same.",
    },
};

const size_t mt_n_rows_daemon = sizeof mt_rows_daemon / sizeof mt_rows_daemon[0];
