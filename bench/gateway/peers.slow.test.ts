import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeTemporaryFolder } from '../../test/harness/temporary-folder.ts'
import { recipes, startPeer } from './peers.ts'

/** Stands for another gateway: it listens at the port of its arguments, and keeps what it was given. */
const program = `#!${process.execPath}
const { createServer } = require('node:http')
const given = process.argv.slice(2)
if (given[0] === '--version') { console.log('a gateway, v1.2.3 (today)'); process.exit() }
require('node:fs').writeFileSync('given.json', JSON.stringify(given))
const port = given[given.findIndex((argument) => /^--?port$/.test(argument)) + 1]
createServer((request, response) => response.end()).listen(port, '127.0.0.1')
`

const upstream = 'http://127.0.0.1:1'

it.each([
  ['litellm', 'LiteLLM 1.2.3', 'config.yaml', undefined],
  ['bifrost', 'Bifrost 1.2.3', 'config.json', 'openai/bench-model'],
] as const)('starts %s with the upstream in its configuration, and ends it', async (id, name, file, model) => {
  const folder = makeTemporaryFolder('peer')
  const executable = path.join(folder, 'program.cjs')
  writeFileSync(executable, program)
  chmodSync(executable, 0o755)
  const place = path.join(folder, 'place')
  const peer = (await startPeer(recipes[id], { program: executable, folder: place, upstream }))!
  expect(peer).toMatchObject({ name, model })
  expect(readFileSync(path.join(place, file), 'utf8')).toContain(upstream)
  expect(JSON.parse(readFileSync(path.join(place, 'given.json'), 'utf8'))).toContain(new URL(peer.url).port)
  peer.stop()
  await expect.poll(() => fetch(peer.url).catch((error: Error) => error.message)).toBe('fetch failed')
})

it('leaves out a program that does not start', async () => {
  const options = { program: '/nowhere/aigw', folder: makeTemporaryFolder('peer'), upstream }
  expect(await startPeer(recipes.litellm, options)).toBeUndefined()
})
