/** Lines of newline-delimited JSON. */
export function createLineParser({ maximumLineBytes }: { maximumLineBytes: number }) {
  let rest: Uint8Array[] = []
  let restBytes = 0
  const assertLength = (bytes: number) => {
    if (bytes > maximumLineBytes) throw new RangeError(`one line is larger than ${maximumLineBytes} bytes`)
  }
  return {
    /** Lines completed by these bytes, which may be split anywhere. Throws RangeError at a line above the limit, after those before it. */
    *push(bytes: Uint8Array): Iterable<string> {
      // No byte of a multi-byte UTF-8 sequence equals a line feed, so complete lines can be decoded separately.
      let start = 0
      for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
        const line = bytes.subarray(start, end)
        assertLength(restBytes + line.length)
        const whole = rest.length === 0 ? line : Buffer.concat([...rest, line])
        rest = []
        restBytes = 0
        start = end + 1
        yield Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8')
      }
      if (start === bytes.length) return
      rest.push(bytes.subarray(start))
      restBytes += bytes.length - start
      assertLength(restBytes)
    },
    /** The last line without its line end, if there is one. */
    *end(): Iterable<string> {
      const line = Buffer.concat(rest).toString('utf8')
      rest = []
      restBytes = 0
      if (line !== '') yield line
    },
  }
}
