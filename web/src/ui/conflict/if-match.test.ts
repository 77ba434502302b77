import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { ApiError } from '../../api/client.ts'
import { changeOneField } from './change-one-field.ts'

const source = path.resolve(import.meta.dirname, '../..')

/** What only one person changes, or content: no settings. */
const withoutVersion = ['pages/files/file-actions.ts', 'pages/own-chats/rename-chat.tsx']

/** The text of each call that sends PUT or PATCH, with all its arguments. */
function changesIn(text: string): string[] {
  const starts = text.matchAll(/\b(?:putJson|patchJson)(?:<[^;()]*>)?\(|\bsend\w*\(\s*'(?:PUT|PATCH)'/g)
  return [...starts].map(({ 0: start, index }) => {
    let depth = 0
    const from = index + start.indexOf('(')
    for (let end = from; end < text.length; end++) {
      depth += Number(text[end] === '(') - Number(text[end] === ')')
      if (depth === 0) return text.slice(index, end + 1)
    }
    return start
  })
}

test('every change of settings in the console states the version that it shows', () => {
  const changes = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file) && file !== 'api/client.ts')
    .flatMap((file) => changesIn(readFileSync(path.join(source, file), 'utf8')).map((call) => ({ file, call })))
  const unversioned = changes.filter(({ call }) => !call.includes('ifMatch('))
  expect([...new Set(unversioned.map(({ file }) => file))].toSorted()).toEqual(withoutVersion)
  expect(changes.length - unversioned.length).toBeGreaterThan(20)
})

test('a call is found with all its arguments', () => {
  const found = changesIn("run(() => putJson<A>(path(one), { a: b(c) }, d)); void send('PATCH', e)")
  expect(found).toEqual(['putJson<A>(path(one), { a: b(c) }, d)', "send('PATCH', e)"])
})

const conflict = new ApiError({ status: 409, code: 'conflict', message: 'Changed.', param: 'if-match' })

test('one field is sent again under the version of now', async () => {
  const sent: string[] = []
  await changeOneField({
    view: { version: 'old' },
    send: ({ version }) => (sent.push(version), version === 'new' ? Promise.resolve() : Promise.reject(conflict)),
    load: () => Promise.resolve({ version: 'new' }),
  })
  expect(sent).toEqual(['old', 'new'])
})

test.each([
  ['that keeps changing', conflict, { version: 'other' }, 5],
  ['that is gone', conflict, undefined, 1],
  [
    'with another error',
    new ApiError({ status: 409, code: 'conflict', message: 'Taken.', param: 'id' }),
    { version: 'other' },
    1,
  ],
])('a setting %s is refused', async (_, error, latest, attempts) => {
  let sent = 0
  const change = changeOneField({
    view: { version: 'old' },
    send: () => ((sent += 1), Promise.reject(error)),
    load: () => Promise.resolve(latest),
  })
  await expect(change).rejects.toBe(error)
  expect(sent).toBe(attempts)
})
