/*
 * The tables of the database, whichever it is. For the files that open one alone.
 */
#ifndef MT_SERVER_DATA_SCHEMA_H
#define MT_SERVER_DATA_SCHEMA_H

#include "server/data/database.h"

/* Work that makes the tables, or brings those of an older program to what this one needs.
 * MT_UNSUPPORTED: a newer one has been here. */
MT_MUST_CHECK enum mt_status mt_schema_bring_up(struct mt_connection *connection, void *context,
                                                struct mt_error *err);

#endif
