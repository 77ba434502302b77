/**
 * The members of a JSON array that grows while it is sent, each as its text; a lone object counts as an array of one.
 * Bytes may be cut anywhere, also inside a UTF-8 sequence or an escape.
 */
export interface JsonArrayParser {
  push(bytes: Uint8Array): string[]
  /** Throws where the array, or a member of it, was not closed. */
  end(): string[]
}

export function createJsonArrayParser({
  maximumMemberCharacters,
}: {
  maximumMemberCharacters: number
}): JsonArrayParser {
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

  /** Skips what stands between members; true where a member begins at `scanned`. */
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

  function drain(): string[] {
    const members: string[] = []
    while (depth > 0 || skipToMember()) {
      if (depth === 0) {
        buffer = buffer.slice(scanned)
        scanned = 0
      }
      do takeCharacter(buffer[scanned++]!)
      while (depth > 0 && scanned < buffer.length)
      if (depth > 0) break
      members.push(buffer.slice(0, scanned))
      buffer = buffer.slice(scanned)
      scanned = 0
    }
    if (buffer.length > maximumMemberCharacters) throw new RangeError('a member of the JSON array is too large')
    return members
  }

  return {
    push(bytes) {
      buffer += decoder.decode(bytes, { stream: true })
      return scanned < buffer.length ? drain() : []
    },
    end() {
      buffer += decoder.decode()
      const members = scanned < buffer.length ? drain() : []
      if (depth > 0 || (opened && !closed)) throw new SyntaxError('the JSON array was not closed')
      return members
    },
  }
}
