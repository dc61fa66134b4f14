/*
 * What LibreTranslate's front end and clients modelled on it request besides translations.
 */
#ifndef MT_SERVER_API_FRONTEND_API_H
#define MT_SERVER_API_FRONTEND_API_H

#include "server/requests/handler.h"

/* GET /frontend/settings: limits and features of the server. */
extern const struct mt_handler mt_frontend_settings_handler;

#endif
