/**
 * Chromium looks through the data of every language when a process makes its first format of `Intl`, for 30 ms. It does so here, while the
 * page loads, and the formats of the page are then made at once.
 */
void new Intl.NumberFormat()
void new Intl.DateTimeFormat()
globalThis.close()
