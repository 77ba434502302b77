import { describe, expect, test } from 'vitest'
import { assumed, type Cell, loadOf, makeOrganisations, planCells, priceOf } from './plan.ts'
import { type Failure, simulateCell } from './simulate.ts'

const seeds = [1, 2, 3, 4, 5]
const given = { ...assumed, organisations: 1_000, organisationsPerCell: 200, callsPerDay: 400_000 }
const cellsOf = (seed: number) => planCells(makeOrganisations(given, seed), given)
const failures: Failure[] = ['none', 'instance', 'failover', 'cell']

describe('a plan of cells', () => {
  test.each(seeds)('has each organisation in one cell of its region, within the size of a cell (seed %i)', (seed) => {
    const organisations = makeOrganisations(given, seed)
    const cells = planCells(organisations, given)
    const placed = cells.flatMap((cell) =>
      cell.organisations.map(({ id, region }) => ({ id, region, in: cell.region })),
    )
    expect(placed.map(({ id }) => id).toSorted((left, right) => left - right)).toEqual(
      organisations.map(({ id }) => id),
    )
    expect(placed.filter((one) => one.in !== one.region)).toEqual([])
    expect(placed.filter((one) => one.in === 'eu')).toHaveLength(given.organisations * given.euShare)
    expect(Math.max(...cells.map((cell) => cell.organisations.length))).toBeLessThanOrEqual(given.organisationsPerCell)
  })

  test('gives cells the same calls, and processors for their busiest hour without one instance', () => {
    for (const cell of cellsOf(1)) {
      const [same] = cellsOf(1).filter(({ region }) => region === cell.region)
      expect(cell.callsPerSecond / same!.callsPerSecond).toBeCloseTo(1, 1)
      const { instanceMs, databaseMs } = loadOf(cell, given)
      expect(instanceMs / 1000 / (cell.instances - 1)).toBeLessThanOrEqual(given.targetUtilisation)
      expect(databaseMs / 1000 / cell.databaseVcpus).toBeLessThanOrEqual(given.targetUtilisation)
    }
  })

  test('takes its price from the given prices alone', () => {
    const [cell] = cellsOf(1) as [Cell]
    const { vcpuHours, diskGigabytes, fileGigabytes } = priceOf(cell, given)
    const prices = { pricePerVcpuHour: 2, pricePerDiskGigabyte: 3, pricePerFileGigabyte: 5 }
    expect(priceOf(cell, { ...given, ...prices }).price).toBeCloseTo(
      2 * vcpuHours + 3 * diskGigabytes + 5 * fileGigabytes,
      6,
    )
  })
})

describe('a simulated cell', () => {
  test.each(failures)('answers, refuses or interrupts each call once: %s', (failure) => {
    for (const seed of seeds) {
      for (const cell of cellsOf(seed)) {
        const { offered, answered, refused, interrupted } = simulateCell(cell, failure, given, seed)
        expect(answered + refused + interrupted).toBe(offered)
        expect(offered).toBeGreaterThan(0)
      }
    }
  })

  test('has the same result for the same seed, and another for another one', () => {
    const [cell] = cellsOf(1) as [Cell]
    const run = (seed: number) => simulateCell(cell, 'cell', given, seed)
    expect(run(7)).toEqual(run(7))
    expect(run(7)).not.toEqual(run(8))
  })

  test('refuses nothing without a failure and after the loss of an instance, whose running calls are interrupted', () => {
    for (const cell of cellsOf(1)) {
      expect(simulateCell(cell, 'none', given, 1)).toMatchObject({ refused: 0, interrupted: 0, delayed: 0 })
      const { refused, interrupted, instanceUtilisation } = simulateCell(cell, 'instance', given, 1)
      expect(refused).toBe(0)
      expect(interrupted / ((cell.callsPerSecond * given.callSeconds) / cell.instances)).toBeCloseTo(1, 0)
      expect(instanceUtilisation).toBeGreaterThan(simulateCell(cell, 'none', given, 1).instanceUtilisation)
    }
  })

  test('delays and refuses calls if its instances are too few', () => {
    const [cell] = cellsOf(1) as [Cell]
    const busy = loadOf(cell, given).instanceMs / 1000
    const { delayed, refused, instanceUtilisation } = simulateCell(
      { ...cell, instances: Math.floor(busy) },
      'none',
      given,
      1,
    )
    expect(delayed).toBeGreaterThan(0)
    expect(refused).toBeGreaterThan(0)
    expect(instanceUtilisation).toBeLessThanOrEqual(1)
  })

  test('refuses the calls of a failover and of the loss of a cell, and answers again afterwards', () => {
    const [cell] = cellsOf(1) as [Cell]
    const seconds = (failure: Failure) => simulateCell(cell, failure, given, 1).refused / cell.callsPerSecond
    expect(seconds('failover') / 26).toBeCloseTo(1, 1)
    expect(seconds('cell') / given.restoreSeconds).toBeCloseTo(1, 1)
    expect(simulateCell(cell, 'cell', given, 1).answered / cell.callsPerSecond).toBeGreaterThan(60)
  })
})
