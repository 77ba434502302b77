import { setImmediate as nextTurn } from 'node:timers/promises'

let loading: ReturnType<typeof load> | undefined

/**
 * The library of the protocol, loaded at the first use because it takes 10 MB. Its validator and the rest are evaluated in different turns of
 * the event loop, and the first message in a third one: together they would hold it for more than 100 ms.
 */
export const useLibrary = () => (loading ??= load())

async function load() {
  await import('@modelcontextprotocol/server/validators/ajv')
  await nextTurn()
  const library = await import('@modelcontextprotocol/server')
  await nextTurn()
  return library
}
