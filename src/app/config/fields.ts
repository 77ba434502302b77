import { z } from 'zod'

/** Kinds of settings. Numbers and booleans may arrive as text from the environment. */

export const megabyte = 1024 * 1024

export const integer = (minimum: number, maximum: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value),
    z.int().min(minimum).max(maximum),
  )
/** 0 to 1. */
export const ratio = z.preprocess(
  (value) => (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value),
  z.number().min(0).max(1),
)
export const flag = z.preprocess(
  (value) => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value),
  z.boolean(),
)
/** A list; the environment gives it as text with commas or spaces. */
export const list = <Item extends z.ZodType>(item: Item, maximum: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(/[\s,]+/).filter((part) => part !== '') : value),
    z.array(item).max(maximum),
  )
