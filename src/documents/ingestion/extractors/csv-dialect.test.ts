import { expect, test } from 'vitest'
import { looksLikeHeader } from './csv-dialect.ts'

const cells = (line: string) => line.split(',')

test.each([
  ['Name,City', ['Ann,Rome']],
  ['Team,1,2,3,4,R,H,E', ['Reds,0,1,0,0,1,5,0', 'Cubs,0,0,2,1,3,7,1']],
  ['Rank,Name,2.05,2.15,Result', ['1,Ann,o,xo,2.15', '2,Bob,o,xxx,2.05', '3,Cid,xo,-,2.05']],
  [
    'Leg,Stage,Time,Name,Length,Time',
    ['1,SS1,07:43,A,3 km,2:10', '1,SS2,08:34,B,5 km,3:10', '2,SS3,09:00,C,7 km,4:00'],
  ],
  ['Country,2001,2002', ['France,5,6']],
  [',1948,1952,1956', ['France,5,6,7', 'Chile,1,0,2']],
  [',Q1 2020,Q2 2020', ['Sales,5,6']],
  [',2019/20,2020/21', ['Home,5,6', 'Away,7,8']],
])('names columns: %s', (first, following) => {
  expect(looksLikeHeader(cells(first), following.map(cells))).toBe(true)
})

test.each([
  ['1,2,3,4', ['5,6,7,8']],
  ['Ann,5,Rome', ['Bob,7,Oslo', 'Cid,9,Rome', 'Dan,1,Bonn']],
  ['Ann,2024-01-31', ['Bob,2024-02-01']],
  ['yes,no,yes,no,yes', ['no,no,yes,yes,no', 'yes,yes,no,no,yes', 'yes,no,no,no,yes']],
  ['Ann,5,Rome', ['Bob,,Oslo', 'Cid,n/a,Rome']],
  ['2001,2002', ['5,6']],
  [',2001,2002', ['1,5,6', '2,7,8']],
  [',2001,2001', ['Ann,5,6']],
])('is data: %s', (first, following) => {
  expect(looksLikeHeader(cells(first), following.map(cells))).toBe(false)
})
