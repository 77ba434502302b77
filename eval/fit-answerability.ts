/**
 * Fits the weights of src/platform/evidence/measure-evidence.ts.
 *
 *   bin/run eval/fit-answerability.ts [FOLDER]
 *
 * A logistic regression (Newton's method, ridge) on a random half of the questions of `answerability` and of each `retrieval/xquad-*`. Prints the intercept, the coefficients, and for each set the area under the ROC curve
 * on the other half.
 */
import path from 'node:path'
import { type AnswerFeatures, measureEvidence } from '../src/platform/evidence/index.ts'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { areaUnderRoc } from './area-under-roc.ts'
import { readAnswerabilityItems } from './answerability.ts'
import { readXquadSet, searchXquad, xquadFolders } from './xquad.ts'

interface Example {
  set: string
  isAnswerable: boolean
  values: number[]
  inFirstHalf: boolean
}

const ridge = 3
/** All questions of xquad together count this many times as much as those of `answerability`; few differ in the order of their scores. */
const xquadFactor = 4
const steps = 30
/** A fixed seed: the same data gives the same weights. */
let state = 20_261_122
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

const data = process.argv[2] ?? sharedDataFolder()
if (data === undefined) throw new Error('There is no folder of evaluation data.')
const examples: Example[] = []
let names: string[] = []
function add(set: string, isAnswerable: boolean, inFirstHalf: boolean, features: AnswerFeatures | null) {
  if (features === null) return
  names = Object.keys(features)
  examples.push({ set, isAnswerable, inFirstHalf, values: Object.values(features) as number[] })
}

for (const { isAnswerable, evidence } of await readAnswerabilityItems(path.join(data, 'answerability'))) {
  add('answerability', isAnswerable, random() < 0.5, measureEvidence(evidence))
}
for (const folder of xquadFolders(path.join(data, 'retrieval'))) {
  for await (const { withArticle, withoutArticle } of searchXquad(readXquadSet(folder))) {
    const inFirstHalf = random() < 0.5
    add(path.basename(folder), true, inFirstHalf, measureEvidence(withArticle))
    add(path.basename(folder), false, inFirstHalf, measureEvidence(withoutArticle))
  }
}

const sets = [...new Set(examples.map(({ set }) => set))]
const first = examples.filter(({ inFirstHalf }) => inFirstHalf)
const means = names.map((_, index) => average(first.map(({ values }) => values[index]!)))
const deviations = names.map(
  (_, index) => Math.sqrt(average(first.map(({ values }) => (values[index]! - means[index]!) ** 2))) || 1,
)
const standardised = (values: readonly number[]) => [
  1,
  ...values.map((value, index) => (value - means[index]!) / deviations[index]!),
]
const isXquad = ({ set }: Example) => set !== 'answerability'
const xquadSize = first.filter(isXquad).length
const fitted = fit(
  first.map((example) => ({
    row: standardised(example.values),
    label: example.isAnswerable ? 1 : 0,
    weight: isXquad(example) ? (xquadFactor * (first.length - xquadSize)) / xquadSize : 1,
  })),
)
const coefficients = names.map((_, index) => fitted[index + 1]! / deviations[index]!)
const intercept = fitted[0]! - coefficients.reduce((sum, value, index) => sum + value * means[index]!, 0)
console.log({ intercept, ...Object.fromEntries(names.map((name, index) => [name, coefficients[index]])) })
for (const set of sets) {
  const other = examples.filter((example) => example.set === set && !example.inFirstHalf)
  const scored = other.map(({ values, isAnswerable }) => ({
    score: intercept + values.reduce((sum, value, index) => sum + value * coefficients[index]!, 0),
    isPositive: isAnswerable,
  }))
  console.log(set, areaUnderRoc(scored).toFixed(3))
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Weighted logistic regression; `row[0]` is the intercept, which has no penalty. */
function fit(rows: readonly { row: number[]; label: number; weight: number }[]): number[] {
  const size = rows[0]!.row.length
  let weights = Array.from({ length: size }, () => 0)
  for (let step = 0; step < steps; step++) {
    const gradient = weights.map((value, index) => (index === 0 ? 0 : ridge * value))
    const hessian = weights.map((_, line) => weights.map((__, column) => (line === column && line > 0 ? ridge : 0)))
    for (const { row, label, weight } of rows) {
      const predicted = 1 / (1 + Math.exp(-row.reduce((sum, value, index) => sum + value * weights[index]!, 0)))
      for (const [line, value] of row.entries()) {
        gradient[line]! += weight * (predicted - label) * value
        for (const [column, other] of row.entries()) {
          hessian[line]![column]! += weight * predicted * (1 - predicted) * value * other
        }
      }
    }
    const change = solve(hessian, gradient)
    weights = weights.map((value, index) => value - change[index]!)
  }
  return weights
}

/** Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index]!])
  for (const column of rows.keys()) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) => (Math.abs(row[column]!) > Math.abs(best[column]!) ? row : best))
    rows[rows.indexOf(pivot)] = rows[column]!
    rows[column] = pivot
    for (const [line, row] of rows.entries()) {
      if (line === column) continue
      const factor = row[column]! / pivot[column]!
      rows[line] = row.map((value, index) => value - factor * pivot[index]!)
    }
  }
  return rows.map((row, index) => row.at(-1)! / row[index]!)
}
