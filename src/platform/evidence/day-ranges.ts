import type { Language } from '../language/index.ts'

/** The days of the week from Monday, and how short they are written in ranges. */
const days: Readonly<Record<Language, readonly string[]>> = {
  en: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  de: ['montag', 'dienstag', 'mittwoch', 'donnerstag', 'freitag', 'samstag', 'sonntag'],
  fr: ['lundi', 'mardi', 'mercredi', 'jeudi', 'vendredi', 'samedi', 'dimanche'],
  es: ['lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado', 'domingo'],
  it: ['lunedì', 'martedì', 'mercoledì', 'giovedì', 'venerdì', 'sabato', 'domenica'],
  pt: ['segunda', 'terça', 'quarta', 'quinta', 'sexta', 'sábado', 'domingo'],
  nl: ['maandag', 'dinsdag', 'woensdag', 'donderdag', 'vrijdag', 'zaterdag', 'zondag'],
}
const shortUnits: Readonly<Record<Language, number>> = { en: 3, de: 2, fr: 3, es: 3, it: 3, pt: 3, nl: 2 }
const between = String.raw`\s?(?:-|–|—|to|through|till|until|bis|au|à|a|al|tot|t\/m|até)\s?(?:(?:le|la|el|il|o|a) )?`
const weekend =
  /(?<!\p{L})(?:week-?ends?|wochenenden?|fin(?:es)? de semana|fine ?settimana|fi(?:m|ns) de semana)(?!\p{L})/iu
const weekdays = /(?<!\p{L})(?:weekdays?|werktags|wochentags|jours ouvrables|doordeweeks)(?!\p{L})/iu

const patterns = new Map<Language, RegExp>()

function rangesOf(latin: Language): RegExp {
  const known = patterns.get(latin)
  if (known) return known
  const units = shortUnits[latin]!
  const day = `(${days[latin]!.map((name) => `${name.slice(0, units)}(?:${name.slice(units)})?`).join('|')})s?\\.?`
  const pattern = new RegExp(`(?<!\\p{L})${day}${between}${day}(?!\\p{L})`, 'giu')
  patterns.set(latin, pattern)
  return pattern
}

/** The days of the week, from 0 for Monday, that a text includes without their names: Tuesday of "Monday to Wednesday", Saturday of "weekends". */
function includedIn(text: string, latin: Language): Set<number> {
  const found = new Set<number>()
  const names = days[latin] ?? []
  if (names.length === 0) return found
  const indexOf = (written: string) =>
    names.findIndex((name) => name.slice(0, shortUnits[latin]) === written.toLowerCase().slice(0, shortUnits[latin]))
  for (const [, from, to] of text.matchAll(rangesOf(latin))) {
    const [first, last] = [indexOf(from!), indexOf(to!)]
    // Patterns without case also match letters such as ſ, which stays itself in lower case.
    if (first < 0 || last < 0) continue
    const length = ((last - first + names.length) % names.length) + 1
    for (let step = 0; step < length; step++) found.add((first + step) % names.length)
  }
  if (weekend.test(text)) for (const day of [5, 6]) found.add(day)
  if (weekdays.test(text)) for (const day of [0, 1, 2, 3, 4]) found.add(day)
  return found
}

/** The names of those days. Linear. */
export const includedDays = (text: string, latin: Language) =>
  [...includedIn(text, latin)].map((day) => days[latin]![day]!)

const indexes = new Map<Language, ReadonlyMap<string, number>>()

/** The names of days, also in the plural, with their numbers. */
function indexesOf(latin: Language): ReadonlyMap<string, number> {
  const known =
    indexes.get(latin) ??
    new Map((days[latin] ?? []).flatMap((name, day) => [name, `${name}s`].map((word) => [word, day] as const)))
  indexes.set(latin, known)
  return known
}

/** The same with the days that it names, from 0 for Monday. `words`: of the text in lower case. Linear. */
export function daysOf(text: string, words: readonly string[], latin: Language): number[] {
  const found = includedIn(text, latin)
  const known = indexesOf(latin)
  for (const word of words) {
    const day = known.get(word)
    if (day !== undefined) found.add(day)
  }
  return [...found]
}

const ofWeekend = ['weekend', 'weekends', 'wochenende', 'wochenenden', 'weekday', 'weekdays', 'werktags']

/** The words that name days. */
export const dayWords = (latin: Language): string[] => [...(days[latin] ?? []), ...ofWeekend]
