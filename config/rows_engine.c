/* The rows for settings of translation, for every verb that translates. */
#include "config/rows.h"

const struct mt_setting mt_rows_engine[] = {
    {
        .section = "Model",
        FIELD(model),
        .is_common = true,
        .if_repeated =
            "it names one model; all models of a directory are served by attentiond serve "
            "--models-directory DIR",
        .value_name = "DIR",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = ENGINE,
        .doc = "The model: its directory, or, where there is no such path, its name: one of "
               "attentiond list, as opus-mt-en-fr or Helsinki-NLP/opus-mt-en-fr, from what "
               "attentiond pull has fetched, Hugging Face's cache or LibreTranslate's packages. "
               "The directory holds config.json, the weights (model.safetensors, several "
               "files and model.safetensors.index.json, or pytorch_model.bin), source.spm, "
               "target.spm and vocab.json, as downloaded; or that of a Marian model (.npz, "
               "decoder.yml and the vocabularies that it names), of a model of CTranslate2, or a "
               "package of Argos Translate (LibreTranslate's), as a folder or .argosmodel file. "
               "Empty: the models of models_directory. Verbs that take one model take the first of "
               "these. There is no default, because most want other languages than the bundled "
               "models'.",
    },
    {
        .section = "Model",
        FIELD(precision),
        .is_common = true,
        .value_name = "P",
        .type = MT_SETTING_CHOICE,
        .choices = {"fp32", "int8"},
        .default_string = "int8",
        .verbs = ENGINE,
        .doc =
            "Arithmetic of the linear layers. int8 is several times faster, takes a quarter of "
            "the memory and costs next to nothing in quality; fp32 is the measure that it is held "
            "against. Either answers the same text with the same bytes on every machine, "
            "whatever is translated beside it.",
    },
    {
        .section = "Model",
        FIELD(cache_dir),
        .value_name = "DIR",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = ENGINE | MT_VERB_LIST | MT_VERB_REMOVE,
        .is_fixed = true,
        .doc = "int8: where the packed form of a model is kept after the first start, one file per "
               "model directory, a quarter of the size of its weights in fp32; those whose "
               "directory is gone are removed when another is written. Empty: attentiond "
               "below XDG_CACHE_HOME, or .cache in HOME; where there is neither, or it cannot be "
               "written, the model is packed in memory at every start.",
    },
    {
        .section = "Model",
        FIELD(load_mode),
        .value_name = "M",
        .type = MT_SETTING_CHOICE,
        .choices = {"mmap", "copy"},
        .default_string = "mmap",
        .verbs = ENGINE,
        .doc = "How the weights get into memory. mmap uses the file itself: nothing is copied, and "
               "several processes share it. A file that is cut short or written to in place is "
               "noticed, and the daemon then refuses to translate until it is reloaded. copy reads "
               "it into sealed memory first, so that nothing that happens to the file matters: for "
               "network file systems.",
    },
    {
        .section = "Model",
        FIELD(kernels),
        .value_name = "NAME",
        .type = MT_SETTING_CHOICE,
        .choices = {"auto", "amx", "avx512vnni", "avxvnni", "avx2", "sse41", "i8mm", "dotprod",
                    "neon", "openblas", "c"},
        .default_string = "auto",
        .verbs = ENGINE,
        .doc = "Instruction set of the inner loops. auto takes the fastest that the CPU has, and "
               "openblas, the library, where it has none of them; the others are for comparisons, "
               "and for finding out whether one of them is at fault. The answers are the same, bit "
               "for bit, but for openblas with precision fp32, whose "
               "last digits depend on the processor.",
    },
    {
        .section = "Model",
        FIELD(source_lang),
        .value_name = "CODE",
        .type = MT_SETTING_STRING,
        .high = 31,
        .default_string = "",
        .verbs = DECODING,
        .doc = "Language that model translates from, as in en, pt-BR or zh-Hans. Empty: what its "
               "attentiond.json, vocab.json, tokenizer_config.json or its directory's name says; "
               "where nothing says it, requests may name any. translate and inspect need it for a "
               "model of many languages.",
    },
    {
        .section = "Model",
        FIELD(target_lang),
        .value_name = "CODE",
        .type = MT_SETTING_STRING,
        .high = 31,
        .default_string = "",
        .verbs = DECODING,
        .doc = "Language that model translates into, likewise.",
    },
    {
        .section = "Model",
        FIELD(warm_up_text),
        .value_name = "TEXT",
        .type = MT_SETTING_STRING,
        .high = 1000,
        .default_string = "Hello, world.",
        .verbs = DAEMON,
        .doc = "A sentence that a model has to translate whenever it is loaded, before it gets "
               "requests. Empty: none.",
    },
    {
        .section = "Model",
        FIELD(warm_up_answer),
        .value_name = "TEXT",
        .type = MT_SETTING_STRING,
        .high = 4000,
        .default_string = "",
        .verbs = DAEMON,
        .doc = "What model has to make of that, to the byte, with the beam that requests get; "
               "where it "
               "says something else it is not used. Empty: anything, because the program does not "
               "know "
               "your model.",
    },
    {
        .section = "Models",
        FIELD(models_directory),
        .is_common = true,
        .if_repeated = "several directories go into one, with colons between them",
        .value_name = "DIR",
        .type = MT_SETTING_STRING,
        .high = 4096,
        .default_string = "",
        .verbs = DAEMON | MT_VERB_PULL | MT_VERB_LIST | MT_VERB_REMOVE,
        .doc =
            "Directory of models, each in a subdirectory as downloaded, whose name is the "
            "model's; or several directories, with ':' between them. Models are loaded when "
            "they are asked for; adding, replacing (by rename) and removing them takes no "
            "restart. A subdirectory may hold an attentiond.json with its languages, aliases "
            "and defaults. The default is the first model of the first directory, by name. "
            "Beside them, model is one more, in memory from the start, and the default; without "
            "model there need not be one. attentiond pull puts models into the first directory. "
            "Empty: none where model is set; else those that there are of attentiond/models "
            "below XDG_DATA_HOME or .local/share in HOME (without either, "
            "/var/lib/attentiond/models), where attentiond pull puts models; of LibreTranslate's "
            "packages; and of ../share/attentiond beside the program, where the bundled models "
            "are installed.",
    },
    {
        .section = "Models",
        FIELD(models_memory),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .high = 1e15,
        .default_number = 0,
        .verbs = DAEMON,
        .doc =
            "Most memory that models of models_directory may take together: weights, mapped "
            "ones too, and keys and values: full batches of sentences of 64 tokens, or what they "
            "really take where that is more (max_batch_rows limits it). "
            "For another one, the least recently used that nobody uses is unloaded; where all "
            "are in use, requests wait. 0: what memory_limit leaves, or where there is none, "
            "any: mapped weights and reserved memory that is not in use cost the machine "
            "little. Weights that were packed just now are not mapped, until the model is loaded "
            "again.",
    },
    {
        .section = "Models",
        FIELD(models_idle_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .high = 1e12,
        .default_number = 0,
        .verbs = DAEMON,
        .doc = "A model of models_directory that nobody has used for so long is unloaded. 0: they "
               "stay, because loading makes the next request wait, and models_memory sees to it "
               "that there is room.",
    },
    {
        .section = "Models",
        FIELD(models_watch_ms),
        .value_name = "MS",
        .type = MT_SETTING_INTEGER,
        .high = 3600000,
        .default_number = 1000,
        .verbs = DAEMON,
        .doc = "A change in models_directory has its effect once nothing has changed there for so "
               "long: a copy that is under way is not taken for a model. 0: changes wait for "
               "SIGHUP, as they do on file systems that do not tell of them (NFS).",
    },
    {
        .section = "Threads",
        FIELD(workers),
        .is_common = true,
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 256,
        .default_number = 0,
        .verbs = ENGINE,
        .doc = "Worker teams, each with a batch of its own. 0 chooses for the machine, as far as "
               "affinity and the container's quota allow: one team on up to 4 cores, one for every "
               "4 above, because few sentences are best together in one batch, whose team shares "
               "the reading of the weights; and spare ones, so that many sentences have a batch "
               "for each thread, where no thread waits for another.",
    },
    {
        .section = "Threads",
        FIELD(threads_per_worker),
        .is_common = true,
        .value_name = "K",
        .type = MT_SETTING_INTEGER,
        .high = 256,
        .default_number = 0,
        .verbs = ENGINE,
        .doc = "Threads of a team. 0 chooses for the machine: all cores, at most 4, since the "
               "operations of a decoder step are too short to be split further.",
    },
    {
        .section = "Threads",
        FIELD(text_threads),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 256,
        .default_number = 0,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc = "Threads that parse requests, cut texts into sentences and tokens, and put replies "
               "together. 0 takes as many as there are cores, since each text is the work of one "
               "thread; there are 2 at least. Half of them take texts of more than 4 KiB, so that "
               "short ones never wait for long ones.",
    },
    {
        .section = "Batch and queue",
        FIELD(max_batch_rows),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1024,
        .default_number = 64,
        .verbs = ENGINE,
        .doc = "Hypotheses that one worker decodes in one step; a beam of 4 takes 4. More give "
               "more throughput, but each step, and so each answer, takes longer and needs more "
               "memory. An eighth is for requests of a sentence or two, so that they begin at "
               "once beside long ones.",
    },
    {
        .section = "Batch and queue",
        FIELD(max_queued_sentences),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .low = 1,
        .high = 1048576,
        .default_number = 4096,
        .verbs = ENGINE,
        .doc =
            "Sentences that wait for a worker; a request that finds no room gets 503 with "
            "Retry-After, and one of more sentences than this 413. Where one found no room, up to "
            "an eighth is kept until there is as much. A queue longer than what is "
            "done within a request's timeout would only turn into late refusals.",
    },
    {
        .section = "Batch and queue",
        FIELD(cache_bytes),
        .value_name = "BYTES",
        .type = MT_SETTING_INTEGER,
        .high = 1e12,
        .default_number = 0,
        .verbs = DAEMON,
        .is_fixed = true,
        .doc =
            "Memory for sentences that were translated before: one that is asked again, with the "
            "same options and of the same model, gets the same answer without being decoded. A "
            "sentence takes some 500 bytes, or 10 KiB and more where its alignment is needed. 0: "
            "none are "
            "kept.",
    },
    {
        .section = "Decoding defaults",
        FIELD(beam_size),
        .is_common = true,
        .value_name = "K",
        .type = MT_SETTING_INTEGER,
        .high = 16,
        .default_number = 0,
        .verbs = DECODING,
        .doc = "Beam size where a request does not say one. 0: what the model's "
               "generation_config.json says, because that is what it was tuned with.",
    },
    {
        .section = "Decoding defaults",
        FIELD(length_penalty),
        .value_name = "X",
        .type = MT_SETTING_NUMBER,
        .low = -1,
        .high = 10,
        .default_number = -1,
        .verbs = DECODING,
        .doc = "Beam search divides a hypothesis' log-probability by its length to this power. "
               "Negative: the model's own.",
    },
    {
        .section = "Decoding defaults",
        FIELD(max_decoding_length),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 65536,
        .default_number = 0,
        .verbs = DECODING,
        .doc = "Longest translation of a sentence in tokens. 0: the model's own; a model has "
               "never seen more positions than it was trained with.",
    },
    {
        .section = "Decoding defaults",
        FIELD(max_length_factor),
        .value_name = "X",
        .type = MT_SETTING_NUMBER,
        .low = 0,
        .high = 1000,
        .default_number = 3,
        .verbs = DECODING,
        .doc =
            "A translation has at most so many times the tokens of its sentence, or 30 where that "
            "is more; for models whose own files do not say it, and requests that name no length. "
            "3, as Marian's, because it cuts none of 1,063 ordinary sentences, of which the "
            "longest had 2.4 times its source's, and ends what has lost its way before it "
            "reaches max_decoding_length. 0: no such limit.",
    },
    {
        .section = "Decoding defaults",
        FIELD(split_sentences),
        .value_name = "S",
        .type = MT_SETTING_CHOICE,
        .choices = {"on", "off", "newlines"},
        .default_string = "on",
        .verbs = DECODING,
        .doc = "Whether a text is cut into sentences that are translated one by one, where a "
               "request does not say. On, because the models are trained on single sentences. "
               "newlines cuts at line breaks alone, for texts that bring one unit per line, as "
               "subtitles do; off takes the whole text for one sentence, and puts its line breaks "
               "back where the alignment says.",
    },
    {
        .section = "Decoding defaults",
        FIELD(shortlist),
        .value_name = "S",
        .type = MT_SETTING_CHOICE,
        .choices = {"on", "off"},
        .default_string = "on",
        .verbs = DECODING,
        .doc = "Whether only the words of a model's lexical shortlist are looked at, where it has "
               "one, as Firefox's have: those that are frequent, and those that the words of the "
               "sentence are likely to become. On, because the whole vocabulary takes several "
               "times as long and seldom has a better word. It counts where a request does not "
               "say.",
    },
    {
        .section = "Decoding defaults",
        FIELD(target_vocabulary),
        .value_name = "S",
        .type = MT_SETTING_CHOICE,
        .choices = {"on", "off"},
        .default_string = "on",
        .verbs = DECODING,
        .doc =
            "Whether a model writes only what the vocabulary of the target's language has, where "
            "attentiond import has made one from texts. On, because a model of many languages "
            "has pieces for all of them, which each step would have to look at. It counts where "
            "a request does not say.",
    },
    {
        .section = "Decoding defaults",
        FIELD(post_edit),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 1,
        .verbs = DAEMON | MT_VERB_TRANSLATE,
        .doc = "Whether a translation looks like its source where a request does not say: no full "
               "stop where the source has none, brackets around it, capitals for capitals, a small "
               "first letter, and no word many times in a row. On, because it leaves ordinary "
               "sentences as they "
               "are, makes titles and labels right, and users of LibreTranslate expect it.",
    },
    {
        .section = "Guards",
        FIELD(repair_numbers),
        .type = MT_SETTING_BOOLEAN,
        .default_number = 1,
        .verbs = DAEMON | MT_VERB_TRANSLATE,
        .doc = "Whether a number that the model got wrong is replaced by the source's, in the "
               "target language's notation, where a request does not say. Only where the alignment "
               "names its place and the sentence then has the right numbers; what was replaced is "
               "in the warnings.",
    },
    {
        .section = "Guards",
        FIELD(max_repeats),
        .value_name = "N",
        .type = MT_SETTING_INTEGER,
        .high = 1000,
        .default_number = 2,
        .verbs = DAEMON,
        .doc = "A sentence's translation that says the same more often in a row, and more often "
               "than its source does, is flagged in the reply: models that lose their way go "
               "round in circles. Good translations say things twice at most. 0: never.",
    },
    {
        .section = "Guards",
        FIELD(max_length_ratio),
        .value_name = "X",
        .type = MT_SETTING_NUMBER,
        .high = 1000,
        .default_number = 3,
        .verbs = DAEMON,
        .doc = "A translation with more tokens than this many times those of its source and 10, or "
               "the other way round, is flagged likewise. One of 1,063 ordinary sentences is, "
               "rightly; spelling out a word that the model does not know comes near. 0: never, "
               "nor one with far more or far fewer letters.",
    },
    {
        .section = "Guards",
        FIELD(min_probability),
        .value_name = "P",
        .type = MT_SETTING_NUMBER,
        .high = 1,
        .default_number = 0.38,
        .verbs = DAEMON,
        .doc =
            "A translation is flagged as unsure where eight tokens in a row have a lower "
            "probability than this on average (the geometric mean): the model guesses there, or "
            "spells a word that it does not know. Where its vocabulary has to spell a word of the "
            "source, a probability that is higher by 15 % for each piece more, up to 30 %, is low "
            "enough. With the default that is said of 2 of 636 translations of the bundled models "
            "that equal a reference, and of 63 of 111 wrong ones. A model that is less sure of "
            "what is right needs a lower value. A greedy search (beam_size 1) computes no "
            "probabilities, because they would cost 6 % of its time, and is never unsure. "
            "0: never, nor are words looked for that were left in the source's language.",
    },
};

const size_t mt_n_rows_engine = sizeof mt_rows_engine / sizeof mt_rows_engine[0];
