import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { dictionary } from '@zxcvbn-ts/language-common'
import { createPasswordRule, isCommonPassword } from './common-passwords.ts'

const list = new Set(dictionary['passwords-common'])

test('refuses each listed password of at least 12 characters, in any capitals, naming the field', async () => {
  const { assertUncommon } = createPasswordRule()
  const long = [...list].filter((password) => password.length >= 12)
  expect(long.length).toBeGreaterThan(300)
  for (const password of long)
    for (const spelling of [password, password.toUpperCase()])
      await expect(assertUncommon(spelling, 'newPassword', { email: 'kim@example.org' })).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'newPassword',
        message: expect.not.stringContaining(password),
      })
})

test.each([
  'password1234',
  'Password1234!',
  'PASSWORD!!2026',
  'P@ssw0rd1234',
  'pa$$word12345678',
  '1234password1234',
  'password 12345678',
  'passwordpassword',
  'passwordpasswordpassw',
  'letmein12345',
  'iloveyou1234',
  'Welcome2026!!',
  'we1come12345',
  'administrator',
  'Admin1234567',
  'changeme-123456',
  'Summer2026!!',
  'ｐａｓｓｗｏｒｄ１２３４',
  '123456789012',
  '1234567890123',
  '098765432109',
  '12345678901234567890',
  'abcdefghijkl',
  'zyxwvutsrqpo',
  'qwertyuiop[]',
  'qwertyuiopasdf',
  'asdfghjklqwertyuiop'.slice(0, 9) + '1234',
  'qwertzuiop12',
  'azertyuiop12',
  'aaaaaaaaaaaa',
  'AaAaAaAaAaAa',
  'abcabcabcabc',
  '123123123123',
  '121212121212',
  'qwerty123456',
  '1q2w3e4r5t6y',
  '1qaz2wsx3edc',
  'password password',
  'pass-word-1234',
  'p a s s w o r d',
  'pass\u200Bword1234',
  'pässwört1234',
  '            ',
  '!!!!!!!!!!!!',
])('counts %j as common', (password) => {
  expect(isCommonPassword(password, list)).toBe(true)
})

test.each([
  'correct horse battery staple',
  'a new and long password',
  'another long password',
  'Xk7#mQ2!vR9z',
  '582930174629',
  'password of my grandmother',
  'dragon-teapot-lantern',
  'Grüße aus Köln am Rhein',
  'пароль для весенней поездки',
  '春の旅行のための合言葉です',
])('accepts %j', (password) => {
  expect(isCommonPassword(password, list)).toBe(false)
})

test('accepts random passwords', () => {
  const refused = Array.from({ length: 20_000 }, () => randomBytes(9).toString('base64')).filter((password) =>
    isCommonPassword(password, list),
  )
  expect(refused).toEqual([])
})

test('leaves passwords of another length to other rules', async () => {
  const { assertUncommon } = createPasswordRule()
  for (const password of ['password', 'a'.repeat(201), 'a'.repeat(16_000)])
    await assertUncommon(password, 'password', { email: 'kim@example.org' })
})

describe('of a person', () => {
  const person = { email: 'Kim.van-Dyke@museum.example', name: 'Kim van Dyke' }
  const { assertUncommon } = createPasswordRule()

  test.each([
    'kim.van-dyke@museum.example',
    'KIM.VAN-DYKE@MUSEUM.EXAMPLE',
    'kim.van-dyke',
    'kimvandyke123',
    'Dykevankim2026!',
    'museum.example1',
    'museum123456',
    'MuseumMuseum',
    'portico123456',
    'P0rtico123456',
    'portico-2026!',
    'portico portico',
    'k i m v a n d y k e',
  ])('refuses %j', async (password) => {
    await expect(assertUncommon(password, 'password', person)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'password',
      message: expect.stringContaining('made of your e-mail address or name'),
    })
  })

  test.each(['kim likes old harbours', 'museum-otter-lantern', 'van de velde 1650 sea'])('accepts %j', (password) =>
    assertUncommon(password, 'password', person),
  )
})
