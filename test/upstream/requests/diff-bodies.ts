import { isDeepStrictEqual } from 'node:util'
import { asObject } from '../../../src/gateway/providers/wire-json.ts'

/** One place where two bodies differ; `undefined` if a body has nothing there. */
export interface BodyDifference {
  /** With positions: `messages[1].content`. */
  path: string
  ours: unknown
  theirs: unknown
}

/** Every place where two canonical bodies differ. A missing object counts as empty; a missing list is one difference. */
export function diffBodies(ours: unknown, theirs: unknown, path = ''): BodyDifference[] {
  if (isDeepStrictEqual(ours, theirs)) return []
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) =>
      diffBodies(ours[at], theirs[at], `${path}[${at}]`),
    ).flat()
  }
  if (areObjects(ours, theirs)) {
    return [...new Set([ours, theirs].flatMap((side) => Object.keys(asObject(side))))].flatMap((name) =>
      diffBodies(asObject(ours)[name], asObject(theirs)[name], path === '' ? name : `${path}.${name}`),
    )
  }
  return [{ path, ours, theirs }]
}

/** `messages[1].content` → `messages[].content`. */
export function withoutPositions(path: string): string {
  return path.replace(/\[\d+\]/g, '[]')
}

/** Whether `path` is `place` or inside it. */
export function isInside(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`)
}

/** Also if one side has nothing, except for a member of a list. */
function areObjects(ours: unknown, theirs: unknown): boolean {
  return (isPlain(ours) && (isPlain(theirs) || theirs === undefined)) || (isPlain(theirs) && ours === undefined)
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value without the parts at `paths` (`messages[].content`), and without objects that are empty then. */
export function withoutPaths(value: unknown, paths: readonly string[], path = ''): unknown {
  if (Array.isArray(value)) return value.map((member) => withoutPaths(member, paths, `${path}[]`))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => {
        const at = path === '' ? name : `${path}.${name}`
        const held = paths.some((place) => place !== at && isInside(place, at))
        return [name, at, held ? withoutPaths(member, paths, at) : member, held] as const
      })
      .filter(
        ([, at, member, held]) => !paths.includes(at) && !(held && isPlain(member) && Object.keys(member).length === 0),
      )
      .map(([name, , member]) => [name, member]),
  )
}
