export const viewerRoutes = [] as const
