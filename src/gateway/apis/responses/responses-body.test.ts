import { describe, expect, test } from 'vitest'
import { JsonText, readBody, readJson, readLongBody } from '../../../platform/bodies/index.ts'
import { AppError } from '../../../platform/kernel/index.ts'
import { nestingOf } from '../limits.ts'
import { responsesBody, tokenCountBody } from './responses-body.ts'

const long = (letter: string) => `${letter}"\\ü`.repeat(10_000)
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(300_000, 7)]).toString('base64')
const body = {
  model: 'm',
  instructions: long('i'),
  input: [
    { role: 'developer', content: long('d') },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: long('t') },
        { type: 'input_image', image_url: `data:image/png;base64,${png}` },
        { type: 'input_file', filename: 'a.txt', file_data: Buffer.from(long('f')).toString('base64') },
      ],
    },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: JSON.stringify({ a: long('a') }) },
    { type: 'function_call_output', call_id: 'a', output: long('o') },
  ],
  tools: [{ type: 'function', name: 'f', description: long('n'), parameters: { type: 'object' } }],
}

const bytesOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
/** Long texts as strings. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

function refusalOf(value: unknown): { param: string | null; message: string } {
  try {
    readJson(bytesOf(value), responsesBody)
  } catch (error) {
    if (error instanceof AppError) return { param: error.param, message: error.message }
    throw error
  }
  throw new Error('accepted')
}

describe('a body of the Responses API', () => {
  test('is the same request whether long texts are decoded or stay bytes', () => {
    const decoded = plain(readJson(bytesOf(body), responsesBody))
    const arriving = responsesBody.startLong!()
    for (let at = 0, bytes = bytesOf(body); at < bytes.length; at += 50_000)
      arriving.push(bytes.subarray(at, at + 50_000))
    expect(plain(arriving.finish())).toMatchObject({ request: (decoded as { request: object }).request })
    expect(plain(readLongBody(bytesOf(body), responsesBody, 'json'))).toMatchObject({
      request: (decoded as { request: object }).request,
    })
  })

  test('names fields that are not read, also if it is small', () => {
    const small = {
      model: 'm',
      mystery: 1,
      input: [{ role: 'user', mood: 'good', content: [{ type: 'input_text', text: 'x', font: 'serif' }] }],
      tools: [{ type: 'function', name: 'f', defer_loading: true }],
    }
    const names = ['input.content.font', 'input.mood', 'mystery', 'tools.defer_loading']
    expect(readBody(bytesOf(small), responsesBody, 'json').ignored.toSorted()).toEqual(names)
    expect(readJson(bytesOf(small), responsesBody).ignored.toSorted()).toEqual(names)
  })

  test('is refused beyond the limits, with the field', () => {
    const tool = (parameters: unknown) => ({
      model: 'm',
      input: 'x',
      tools: [{ type: 'function', name: 'f', parameters }],
    })
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const withSchema = (json: string) => JSON.stringify(tool('?')).replace('"?"', json)
    expect(refusalOf(withSchema(nested(65)))).toMatchObject({ param: 'tools[0].parameters' })
    expect(refusalOf(withSchema(nested(1_000)))).toMatchObject({ param: 'tools' })
    expect(refusalOf(tool({ description: 'x'.repeat(300_000) })).message).toContain('262144 bytes')
    const tools = Array.from({ length: 1_001 }, (_, at) => ({ type: 'function', name: `f${at}` }))
    expect(refusalOf({ model: 'm', input: 'x', tools })).toMatchObject({ param: 'tools' })
    expect(refusalOf('['.repeat(8_000))).toMatchObject({ message: expect.stringContaining('nested') })
  })

  test('counts the levels of a body without visiting the bytes of its long texts', () => {
    expect(nestingOf({ input: [{ content: JsonText.of('x') }] }, 80)).toBe(3)
  })

  test('may lack the model if only its tokens are counted', () => {
    expect(readJson(bytesOf({ input: 'x' }), tokenCountBody).request.messages).toEqual([{ role: 'user', content: 'x' }])
    expect(readBody(bytesOf({ input: 'x', model: null }), tokenCountBody, 'json').model).toBe('')
  })
})
