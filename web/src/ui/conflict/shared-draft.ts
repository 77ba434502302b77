/** A form and the stored settings that it was filled from, when two people change them at the same time. Pure, for tests. */

/** The fields whose values differ. */
export function differing<Draft extends object>(one: Draft, other: Draft): (keyof Draft)[] {
  const names = Object.keys(one) as (keyof Draft)[]
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]))
}

export interface Merged<Draft> {
  /** What both persons have changed; in fields of both, the values of `mine`. */
  draft: Draft
  /** Fields to which both gave other values. */
  conflicts: (keyof Draft)[]
}

/** Joins two changes of `before`. `replaced`: fields that the other person has changed although `theirs` does not show it. */
export function mergeDrafts<Draft extends object>(
  before: Draft,
  mine: Draft,
  theirs: Draft,
  replaced: readonly (keyof Draft)[] = [],
): Merged<Draft> {
  const changed = differing(before, mine)
  const draft = { ...theirs }
  for (const name of changed) draft[name] = mine[name]
  const both = new Set([...differing(before, theirs), ...replaced])
  const conflicts = changed.filter(
    (name) => both.has(name) && differing({ [name]: mine[name] }, { [name]: theirs[name] }).length > 0,
  )
  return { draft, conflicts }
}
