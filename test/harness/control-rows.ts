import type { Queryable } from '../../src/platform/database/index.ts'

/** Rows of the control database, for tests of one room that need no service. */

export async function insertOrganisation(control: Queryable, id: string): Promise<void> {
  await control.execute(
    `INSERT INTO organisations (id, name, plan, subscription_status, subscription_starts_at, gateway_enabled, gateway_opt_in,
       monthly_budget_pico_usd, markup_basis_points, time_zone, period_anchor_day, disabled_models, created_at, updated_at)
     VALUES ($1, 'Acme', 'enterprise', 'active', now(), true, true, 0, 0, 'UTC', 1, '{}', now(), now())`,
    [id],
  )
}

export async function insertSpace(
  control: Queryable,
  { id, organisationId, settings = {} }: { id: string; organisationId: string; settings?: object },
): Promise<void> {
  await control.execute(
    `INSERT INTO spaces (id, organisation_id, name, instructions, model, settings, published, created_at, updated_at)
     VALUES ($1, $2, 'Space', '', 'm', $3::jsonb, false, now(), now())`,
    [id, organisationId, JSON.stringify(settings)],
  )
}
