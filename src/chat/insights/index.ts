export { createInsights, hashQuestion, type InsightService } from './insights.ts'
export { countCitations, createInsightStore, removeCitations, removeQuestions } from './insights.store.ts'
