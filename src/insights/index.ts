export { createInsights, hashQuestion, type InsightService } from './insights.ts'
export { createInsightStore } from './insights.store.ts'
