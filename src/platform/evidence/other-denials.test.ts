import { describe, expect, test } from 'vitest'
import { supports } from './support.ts'

const handbook = {
  title: 'Handbook',
  text: [
    'Growing your own herbs doesn’t have to be hard. A desert station is a place where no water can be found at all.',
    'If the trainer is not helping you understand the real risk of a dive, look for another school.',
    'Prizes for Wheel 5 , Daily Star , and Daily 3 are paid in one payment.',
    'Open the lid, put in the filter and press the green button. The tide table covers the western coves.',
    'Rooms are not heated in summer, except when the fever ward is open.',
    'If you did not receive your wages evenly over the year, you may be able to lower the penalty.',
    'Make sure you understand the deed before you sign it. If you are not comfortable with any of the terms, do not sign it.',
    'If you are suing for unpaid rent there is no limit to how much you can sue for.',
  ].join(' '),
}
const harbour = { title: 'DHA | Harbour Affairs', text: 'We pay for the lifeboat of each harbour.' }

describe('a true sentence keeps its marker next to', () => {
  test.each([
    ['a denial of something else that need not be', 'You can try to grow your own herbs.'],
    ['a denial in a condition', 'They should help you understand the real risk of a dive.'],
    ['a denied one after "there is"', 'If you are suing for unpaid rent, there is no limit to the sum.'],
    ['"devoid of"', 'A desert station is devoid of water.'],
    ['a number before a comma', 'Prizes for Wheel 5, Daily Star, and Daily 3 are paid in one payment.'],
    ['numbers of a list', 'Three steps: 1) open the lid, 2) put in the filter and 3) press the green button.'],
    [
      'what its writer does not know',
      'I do not have information about the harbour, but the tide table covers the western coves.',
    ],
  ])('%s', (_, sentence) => {
    expect(supports(sentence, handbook)).toBe(true)
  })

  test('an abbreviation of its name', () => {
    expect(supports('The lifeboat is paid by the Department of Harbour Affairs (DHA).', harbour)).toBe(true)
  })
})

describe('the opposite loses its marker next to', () => {
  test.each([
    ['a denial of something else', 'You can not try to grow your own herbs.'],
    ['a denial in a condition', 'They should not help you understand the real risk of a dive.'],
    ['an exception under a condition', 'Rooms are heated in summer.'],
    [
      'a condition in other words',
      'If your wages are evenly spread over the year, you may be able to lower the penalty.',
    ],
    ['a denial of one word', 'If you are uncomfortable with any terms, sign it.'],
  ])('%s', (_, sentence) => {
    expect(supports(sentence, handbook)).toBe(false)
  })
})
