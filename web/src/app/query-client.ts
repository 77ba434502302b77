import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // An answer of the API is final. Only a lost connection or a busy server is worth another try.
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 502),
    },
  },
})
