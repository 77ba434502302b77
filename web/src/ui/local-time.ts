/** A moment as the value of an input of the type `datetime-local`, in the time zone of the browser. */
export function toLocalInput(iso: string | null): string {
  if (iso === null) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** null: the input is empty. */
export function fromLocalInput(value: string): string | null {
  return value === '' ? null : new Date(value).toISOString()
}

/** Midnight of a day (`2026-11-21`) in the time zone of the browser, `later` days later; undefined where it is no day. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '')
  if (!parts) return undefined
  return new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later).toISOString()
}
