/**
 * Parses the members of a JSON array while it is received, each as its text; a single object counts as an array of one. Bytes may be split
 * anywhere, also inside a UTF-8 sequence or an escape.
 */
export function createJsonArrayParser({ maximumMemberCharacters }: { maximumMemberCharacters: number }) {
  const decoder = new TextDecoder('utf-8')
  /** Text of the open member, and how far it was scanned. */
  let buffer = ''
  let scanned = 0
  /** Open brackets and braces inside the member. */
  let depth = 0
  let inString = false
  let escaped = false
  let opened = false
  let closed = false

  function takeCharacter(character: string) {
    if (inString) {
      if (escaped) escaped = false
      else if (character === '\\') escaped = true
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }

  /** Skips separators; true if a member begins at `scanned`. */
  function skipToMember(): boolean {
    for (; scanned < buffer.length; scanned++) {
      const character = buffer[scanned]!
      if (character === '{' && !closed) return true
      if (character === '[' && !opened) opened = true
      else if (character === ']' && opened) closed = true
      else if (!' \t\r\n,'.includes(character)) throw new SyntaxError('not a JSON array of objects')
    }
    buffer = ''
    scanned = 0
    return false
  }

  function* drain(): Generator<string, void, void> {
    while (depth > 0 || skipToMember()) {
      if (depth === 0) {
        buffer = buffer.slice(scanned)
        scanned = 0
      }
      do takeCharacter(buffer[scanned++]!)
      while (depth > 0 && scanned < buffer.length)
      if (depth > 0) break
      const member = buffer.slice(0, scanned)
      buffer = buffer.slice(scanned)
      scanned = 0
      assertSize(member)
      yield member
    }
    assertSize(buffer)
  }

  function assertSize(member: string) {
    if (member.length > maximumMemberCharacters) throw new RangeError('a member of the JSON array is too large')
  }

  return {
    /** Members completed by these bytes. Throws at an invalid member, after those before it. */
    *push(bytes: Uint8Array): Iterable<string> {
      buffer += decoder.decode(bytes, { stream: true })
      if (scanned < buffer.length) yield* drain()
    },
    /** Throws if the array, or a member of it, was not closed. */
    *end(): Iterable<string> {
      buffer += decoder.decode()
      if (scanned < buffer.length) yield* drain()
      if (depth > 0 || (opened && !closed)) throw new SyntaxError('the JSON array was not closed')
    },
  }
}
