/** Lines of newline-delimited JSON. */
export interface LineParser {
  /** Lines completed by these bytes, which may be cut anywhere. Throws RangeError on a line above the limit. */
  push(bytes: Uint8Array): string[]
  /** The line that lacks its end, where there is one. */
  end(): string[]
}

export function createLineParser({ maximumLineBytes }: { maximumLineBytes: number }): LineParser {
  let rest: Uint8Array[] = []
  let restBytes = 0
  return {
    push(bytes) {
      // A byte of a longer UTF-8 sequence never looks like a line feed, so whole lines decode by themselves.
      const end = bytes.lastIndexOf(0x0a) + 1
      if (end === 0) {
        rest.push(bytes)
        restBytes += bytes.length
        if (restBytes > maximumLineBytes) throw new RangeError(`one line is larger than ${maximumLineBytes} bytes`)
        return []
      }
      const lines = Buffer.concat([...rest, bytes.subarray(0, end - 1)]).toString('utf8')
      rest = [bytes.subarray(end)]
      restBytes = bytes.length - end
      return lines.split('\n')
    },
    end() {
      const line = Buffer.concat(rest).toString('utf8')
      rest = []
      restBytes = 0
      return line === '' ? [] : [line]
    },
  }
}
