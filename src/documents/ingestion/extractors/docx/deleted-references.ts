import type { Attribute } from '../office-xml.ts'

/** Most notes and comments of deleted text that are remembered. */
const maximumReferences = 20_000

/** Elements of deleted text, and the elements of other parts that they refer to. */
const targets: ReadonlyMap<string, string> = new Map([
  ['w:footnoteReference', 'w:footnote'],
  ['w:endnoteReference', 'w:endnote'],
  ['w:commentReference', 'w:comment'],
])
const targetNames: ReadonlySet<string> = new Set(targets.values())

export type DeletedReferences = ReturnType<typeof createDeletedReferences>

/** Remembers which notes and comments belong to text whose deletion is tracked: Word leaves them in their parts. */
export function createDeletedReferences() {
  const found = new Set<string>()
  return {
    /** Called for each element of deleted text. */
    add(name: string, attribute: Attribute) {
      const target = targets.get(name)
      if (target !== undefined && found.size < maximumReferences) found.add(`${target} ${attribute('id') ?? ''}`)
    },
    /** True for a note or comment of deleted text. */
    has(name: string, attribute: Attribute): boolean {
      return targetNames.has(name) && found.has(`${name} ${attribute('id') ?? ''}`)
    },
    hasComment: (id: string) => found.has(`w:comment ${id}`),
  }
}
