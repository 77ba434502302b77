export type * from './port.ts'
export type { PriceSchedule, TokenPrices } from './prices.ts'
