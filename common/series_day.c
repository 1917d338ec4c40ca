/* SPDX-License-Identifier: MIT */
#include "series_day.h"

#include <stdio.h>
#include <string.h>

int series_day_read(firn_time *time, const firn_series *series, const char *text, size_t length,
                    firn_error *error) {
    enum { NOON_S = 12 * 3600, DATE_LENGTH = 10 };
    char name[FIRN_LAYOUT_SIZE] = "";
    firn_zone *zone = NULL;
    int code = firn_time_parse(time, text, length, error);
    if (code != FIRN_OK || length != DATE_LENGTH || text[0] == '@') {
        return code;
    }
    sscanf(strstr(firn_series_definition(series), " zone="), " zone=%511s", name);
    code = firn_zone_open(&zone, name, error);
    if (code == FIRN_OK) {
        time->sec += NOON_S;
        time->sec -= firn_zone_offset(zone, time->sec - firn_zone_offset(zone, time->sec));
        firn_zone_close(zone);
    }
    return code;
}
