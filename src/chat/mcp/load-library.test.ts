import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

/** In a separate process, which has loaded nothing of the library: prints the turn of the event loop in which each of its modules was evaluated. */
const program = `
  import { registerHooks } from 'node:module'
  let turn = 0
  const count = () => { turn++; setImmediate(count).unref() }
  count()
  const evaluated = {}
  globalThis.noteEvaluated = (name) => { evaluated[name] = turn }
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      const name = /modelcontextprotocol\\/(.*)$/.exec(url)?.[1]
      if (!name || loaded.format !== 'module') return loaded
      return { ...loaded, source: loaded.source + '\\nglobalThis.noteEvaluated(' + JSON.stringify(name) + ')' }
    },
  })
  const { useLibrary } = await import(process.argv[1])
  const before = Object.keys(evaluated).length
  const { createMcpHandler, Server } = await useLibrary()
  const loaded = turn
  const modules = { ...evaluated }
  const createServer = () => {
    const server = new Server({ name: 'a', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: [] }))
    return server
  }
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const request = new Request('http://localhost/mcp', { method: 'POST', headers })
  const parsedBody = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const answer = await createMcpHandler(createServer, {}).fetch(request, { parsedBody })
  const later = Object.keys(evaluated).length - Object.keys(modules).length
  console.log(JSON.stringify({ before, modules, loaded, later, answer: await answer.text() }))
`

test('the library is evaluated in two turns of the event loop, before the turn of the first message, which loads nothing', () => {
  const file = path.join(import.meta.dirname, 'load-library.ts')
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program, file], { encoding: 'utf8' })
  const { before, modules, loaded, later, answer } = JSON.parse(output) as {
    before: number
    modules: Record<string, number>
    loaded: number
    later: number
    answer: string
  }
  const turnOf = (part: string) => modules[Object.keys(modules).find((name) => name.includes(part))!]!
  expect(before).toBe(0)
  expect(turnOf('dist/ajvProvider')).toBeLessThan(turnOf('server/dist/index.mjs'))
  expect(turnOf('server/dist/index.mjs')).toBeLessThan(loaded)
  expect(later).toBe(0)
  expect(answer).toContain('"tools":[]')
})
