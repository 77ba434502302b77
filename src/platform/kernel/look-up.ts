/**
 * The value of a word that comes from outside; undefined where the table has none. A plain index also finds what every object inherits:
 * `table['constructor']` is a function.
 */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, word: string | null): Value | undefined {
  return word !== null && Object.hasOwn(table, word) ? table[word] : undefined
}
