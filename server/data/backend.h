/*
 * The two databases behind database.h. Only the files that implement one of them include this.
 */
#ifndef MT_SERVER_DATA_BACKEND_H
#define MT_SERVER_DATA_BACKEND_H

#include "server/data/database.h"

struct mt_backend {
    void (*close)(struct mt_database *database);
    enum mt_status (*write)(struct mt_database *database, mt_database_work *work, void *context,
                            struct mt_error *err);
    enum mt_status (*read)(struct mt_database *database, mt_database_work *work, void *context,
                           struct mt_error *err);
    enum mt_status (*run)(struct mt_connection *connection, const char *sql,
                          const struct mt_value *values, size_t n_values, mt_database_row *row,
                          void *context, size_t *n_changed, struct mt_error *err);
};

/* The structs of each backend begin with these. */
struct mt_database {
    const struct mt_backend *backend;
};

struct mt_connection {
    const struct mt_backend *backend;
    bool is_running; /* a statement is running, of which a row is being handed out */
};

MT_MUST_CHECK enum mt_status mt_sqlite_open(const struct mt_database_options *options,
                                            struct mt_database **out, struct mt_error *err);
MT_MUST_CHECK enum mt_status mt_postgresql_open(const struct mt_database_options *options,
                                                struct mt_database **out, struct mt_error *err);

/* Work that creates the tables, or migrates those of an older version. MT_UNSUPPORTED: the tables
 * are of a newer version. */
MT_MUST_CHECK enum mt_status mt_schema_bring_up(struct mt_connection *connection, void *context,
                                                struct mt_error *err);

#endif
