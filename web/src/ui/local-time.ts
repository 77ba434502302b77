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
