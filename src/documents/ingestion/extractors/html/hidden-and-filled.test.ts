import { describe, expect, test } from 'vitest'
import { readBlocks } from '../../testing/read-blocks.ts'

const texts = async (content: string) => (await readBlocks('html', content)).texts

describe('text that browsers do not show', () => {
  const hidden = 'display: none'

  test.each([
    ['an element with the attribute hidden', '<p>Seen.</p><div hidden>Not <b>seen</b></div><p>Too.</p>'],
    [
      'an element without display',
      `<p>Seen.</p><div style="color: red; ${hidden}">Not<div>seen</div></div><p>Too.</p>`,
    ],
    ['a paragraph without an end', '<p>Seen.<p hidden>Not seen.<p>Too.'],
    ['an item without an end, with a list in it', '<p>Seen.</p><ul><li hidden>Not<ul><li>seen</ul></ul><p>Too.</p>'],
    ['a row of a table without an end', '<p>Seen.</p><table><tr hidden><td>Not<td>seen</table><p>Too.</p>'],
  ])('is left out with a warning: %s', async (_, page) => {
    const found = await readBlocks('html', page)
    expect(found.texts).toEqual(['Seen.', 'Too.'])
    expect(found.warnings[0]).toEqual({ code: 'hidden_text', message: expect.stringContaining('left out') })
  })

  test('is left out cell by cell', async () => {
    const table = `<table><tr><td>Rose<td>red<tr><td>Lily<td hidden>white<tr><td>Tulip<td>pink</table>`
    expect(await texts(table)).toEqual(['Rose | red', 'Lily', 'Tulip | pink'])
  })

  test('is read if a search of the browser shows it, or if the page has hardly any other', async () => {
    expect(await texts('<p>Seen.</p><div hidden="until-found">Found.</div><img hidden><p>Too.</p>')).toEqual([
      'Seen.',
      'Found.',
      'Too.',
    ])
    const all = await readBlocks('html', `<div style="${hidden}"><p>The whole text is in here.</p></div><p>x</p>`)
    expect(all.texts).toEqual(['The whole text is in here.', 'x'])
    expect(all.warnings).toMatchObject([{ code: 'hidden_text', message: expect.stringContaining('It was read') }])
  })

  test('in a style that elements within it can undo is read with a warning', async () => {
    const found = await readBlocks(
      'html',
      '<p>a</p><div style="font-size:0px"><p style="font-size:14px">Mail</p></div>',
    )
    expect(found.texts).toEqual(['a', 'Mail'])
    expect(found.warnings).toMatchObject([{ code: 'hidden_text', message: expect.stringContaining('It was read') }])
  })
})

describe('a filled form', () => {
  test('has the values of its fields, boxes and lists, but no secrets, buttons and options that are not chosen', async () => {
    const page = `<form><p>Name <input value="Ann &amp; Bob"> <input type="hidden" name="token" value="secret1">
      <input type="password" value="secret2"><input type="submit" value="Send"></p>
      <p><input type="checkbox" checked> Newsletter <input type="radio"> Post</p>
      <p>Country <select><option>Norway<option selected>Sweden<option>Finland</select></p>
      <p>Size <select><option>Please choose</option><option>Large</option></select></p>
      <p>Remark <textarea>Ring twice</textarea></p><input type="checkbox" id="menu"></form>`
    expect(await texts(page)).toEqual([
      'Name Ann & Bob',
      '[x] Newsletter [ ] Post',
      'Country Sweden',
      'Size',
      'Remark Ring twice',
    ])
  })
})

describe('a frame', () => {
  const frame = (content: string) =>
    `<iframe srcdoc="${content.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">other</iframe>`

  test('with its page as an attribute is read at its place, and any other is never loaded', async () => {
    const page = `<p>Before it.</p>${frame(`<h2>Map &amp; plan</h2><ul><li class="a">Pier</ul>`)}<iframe src="https://a.example/"></iframe><p>Behind it.</p>`
    expect(await texts(page)).toEqual(['Before it.', 'Map & plan', '- Pier', 'Behind it.'])
    expect(await texts(frame(`<p>${'Long text. '.repeat(20_000)}</p>`))).not.toEqual([])
  })

  test('within frames is read to a bound', async () => {
    let page = '<p>Level 9</p>'
    for (let level = 8; level >= 0; level -= 1) page = `<p>Level ${level}</p>${frame(page)}`
    expect(await texts(page)).toEqual(['Level 0', 'Level 1', 'Level 2', 'Level 3'])
  })
})
