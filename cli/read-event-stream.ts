/** Longest event; a longer one means that the server is not Portico. */
const maximumEventCharacters = 10_000_000

/** The named events of a `text/event-stream` answer of the service, which ends its lines with LF. Comments are skipped. */
export async function* readEventStream(response: Response): AsyncGenerator<{ event: string; data: string }> {
  if (!response.body) return
  let rest = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    rest += text
    const blocks = rest.split('\n\n')
    rest = blocks.pop()!
    if (rest.length > maximumEventCharacters) throw new Error('an event of the stream is too long')
    for (const block of blocks) {
      const lines = block.split('\n')
      const event = lines.find((line) => line.startsWith('event:'))?.slice('event:'.length)
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).trim())
      if (data.length > 0) yield { event: event?.trim() ?? 'message', data: data.join('\n') }
    }
  }
}
