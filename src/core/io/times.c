/* times.c: dates and times of ISO 8601 from and to text (io_table.h). A time is read in the style of its column: what
 * differs from it anywhere is refused, so that the text that is made of a time is the one that was read. Days are
 * counted as H. Hinnant's "chrono-Compatible Low-Level Date Algorithms" (2014) has it, in eras of 400 years. */
#include <stdio.h>
#include <string.h>

#include "core/io_table.h"

TsrTimeUnit tsr_time_unit(const TsrTimeStyle *style) {
    if (style->separator == 0) return 0;
    return style->digits == 0 ? 1 : style->digits <= 3 ? 1000 : style->digits <= 6 ? 1000000 : 1000000000;
}

static const struct {
    const char *name;
    TsrTimeUnit unit;
} units[] = {{"D", 0}, {"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};

const char *tsr_time_unit_name(TsrTimeUnit unit) {
    for (size_t i = 0; i < TSR_COUNTOF(units); i++)
        if (units[i].unit == unit) return units[i].name;
    return "?";
}

bool tsr_time_unit_find(TsrTimeUnit *unit, const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(units); i++) {
        if (strcmp(units[i].name, name) != 0) continue;
        *unit = units[i].unit;
        return true;
    }
    return false;
}

/* ---- days ---- */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static int64_t days_of(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = floor_div(year, 400), of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = floor_div(days, 146097), of_era = days - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100), shifted = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted + (shifted < 10 ? 3 : -9));
    *year = years + era * 400 + (*month <= 2);
}

static int days_in(int64_t year, int month) {
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* ---- reading ---- */

/* n digits at *p, which moves behind them; -1: there are not as many. */
static int digits(const char **p, const char *end, int n) {
    int value = 0;
    if (end - *p < n) return -1;
    for (int i = 0; i < n; i++, ++*p) {
        if (**p < '0' || **p > '9') return -1;
        value = value * 10 + (**p - '0');
    }
    return value;
}

static bool accept(const char **p, const char *end, char c) {
    if (*p == end || **p != c) return false;
    ++*p;
    return true;
}

static bool parse_date(int64_t *days, const char **p, const char *end) {
    int year = digits(p, end, 4);
    if (year < 0 || !accept(p, end, '-')) return false;
    int month = digits(p, end, 2);
    if (month < 1 || month > 12 || !accept(p, end, '-')) return false;
    int day = digits(p, end, 2);
    if (day < 1 || day > days_in(year, month)) return false;
    *days = days_of(year, month, day);
    return true;
}

/* Seconds since midnight, and the fraction in units of the style that is found. */
static bool parse_clock(int64_t *seconds, int64_t *fraction, TsrTimeStyle *style, const char **p, const char *end) {
    int hour = digits(p, end, 2), minute = accept(p, end, ':') ? digits(p, end, 2) : -1, second = 0;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
    style->seconds = accept(p, end, ':');
    if (style->seconds) second = digits(p, end, 2);
    if (second < 0 || second > 59) return false;
    *seconds = hour * 3600 + minute * 60 + second;
    *fraction = 0;
    if (!style->seconds || *p == end || (**p != '.' && **p != ',')) return true;
    style->point = *(*p)++;
    for (; *p < end && **p >= '0' && **p <= '9' && style->digits < 9; ++*p, style->digits++)
        *fraction = *fraction * 10 + (**p - '0');
    for (int n = style->digits; n % 3 != 0; n++) *fraction *= 10;
    return style->digits > 0;
}

static bool parse_zone(TsrTimeStyle *style, const char **p, const char *end) {
    if (*p == end) return true;
    if (accept(p, end, 'Z')) {
        style->zone = 'Z';
        return true;
    }
    if (**p != '+' && **p != '-') return false;
    bool west = *(*p)++ == '-';
    int hours = digits(p, end, 2);
    style->zone = accept(p, end, ':') ? '+' : '4';
    int minutes = digits(p, end, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || (west && hours == 0 && minutes == 0)) return false;
    style->zone_offset = (int16_t)((hours * 60 + minutes) * (west ? -1 : 1));
    return true;
}

static bool same_style(const TsrTimeStyle *a, const TsrTimeStyle *b) {
    return a->separator == b->separator && a->seconds == b->seconds && a->point == b->point && a->digits == b->digits &&
           a->zone == b->zone && a->zone_offset == b->zone_offset;
}

bool tsr_time_parse(int64_t *out, const char *begin, const char *end, TsrTimeStyle *style, bool first) {
    TsrTimeStyle found = {0};
    int64_t days, seconds = 0, fraction = 0;
    const char *p = begin;
    if (end - begin < 10 || !parse_date(&days, &p, end)) return false;
    if (p < end) {
        found.separator = *p++;
        if ((found.separator != 'T' && found.separator != ' ') || !parse_clock(&seconds, &fraction, &found, &p, end) ||
            !parse_zone(&found, &p, end))
            return false;
    }
    if (p != end || (!first && !same_style(&found, style))) return false;
    TsrTimeUnit unit = tsr_time_unit(&found);
    if (first) *style = found;
    *out = days;
    if (unit == 0) return true;
    *out = days * 86400 + seconds - found.zone_offset * 60;
    return !__builtin_mul_overflow(*out, unit, out) && !__builtin_add_overflow(*out, fraction, out);
}

/* ---- writing ---- */

static size_t put_clock(char *p, int64_t of_day, int64_t fraction, TsrTimeUnit unit, const TsrTimeStyle *style) {
    int n = snprintf(p, 16, "%02d:%02d", (int)(of_day / 3600), (int)(of_day / 60 % 60));
    if (style->seconds) n += snprintf(p + n, 8, ":%02d", (int)(of_day % 60));
    if (style->digits == 0) return (size_t)n;
    char text[16];
    snprintf(text, sizeof text, "%09lld", (long long)(fraction * (1000000000 / unit)));
    p[n++] = style->point;
    memcpy(p + n, text, (size_t)style->digits);
    return (size_t)n + (size_t)style->digits;
}

static size_t put_zone(char *p, const TsrTimeStyle *style) {
    int offset = style->zone_offset < 0 ? -style->zone_offset : style->zone_offset;
    if (style->zone == 0) return 0;
    if (style->zone == 'Z') {
        *p = 'Z';
        return 1;
    }
    return (size_t)snprintf(p, 10, style->zone == '+' ? "%c%02d:%02d" : "%c%02d%02d",
                            style->zone_offset < 0 ? '-' : '+', offset / 60 % 24, offset % 60);
}

size_t tsr_time_format(char *buffer, int64_t value, TsrTimeUnit unit, const TsrTimeStyle *style) {
    int64_t per_second = unit == 0 ? 1 : unit, fraction = 0, days = value, of_day = 0, year;
    int month, day;
    if (unit != 0) {
        int64_t seconds = floor_div(value, per_second);
        fraction = value - seconds * per_second;
        seconds += style->zone_offset * 60;
        days = floor_div(seconds, 86400);
        of_day = seconds - days * 86400;
    }
    if (days < -INT64_C(1000000000000) || days > INT64_C(1000000000000)) /* beyond any calendar */
        return (size_t)snprintf(buffer, TSR_TIME_ROOM, "%lld%s", (long long)value, tsr_time_unit_name(unit));
    date_of(days, &year, &month, &day);
    bool plain = year >= 0 && year <= 9999;
    size_t n = (size_t)snprintf(buffer, TSR_TIME_ROOM, plain ? "%04lld-%02d-%02d" : "%+05lld-%02d-%02d",
                                (long long)year, month, day);
    if (style->separator != 0) {
        buffer[n++] = style->separator;
        n += put_clock(buffer + n, of_day, fraction, per_second, style);
        n += put_zone(buffer + n, style);
    }
    buffer[n] = '\0';
    return n;
}
