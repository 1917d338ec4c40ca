/* SPDX-License-Identifier: MIT */
/* When an ID was issued, by its own time. */
#include "ids.h"

int id_time(firn_time *time, const firn_scheme *scheme, const firn_id *id) {
    const int index = scheme_index(scheme, FIRN_ROLE_TIME);
    firn_fields fields;
    if (firn_unpack(&fields, scheme, id, NULL) != FIRN_OK) {
        return -1;
    }
    if (index >= 0) {
        firn_scheme_time(scheme, fields.value[index].low, time);
    }
    return index >= 0;
}

bool is_today(const firn_time *time) {
    return time->sec >= 1104537600 && time->sec < 2366841600;
}
