/* SPDX-License-Identifier: MIT */
#include "engine/fetch/address.h"

#include <string.h>

#include "base/text.h"

char *address_shown(const char *url)
{
    const char *colon = strstr(url, "://"), *at = strrchr(url, '@');
    int scheme = colon ? (int)(colon + 3 - url) : 0;
    if (!at || at < url + scheme)
        return strdup(url);
    return text_format("%.*s***%s", scheme, url, at);
}
