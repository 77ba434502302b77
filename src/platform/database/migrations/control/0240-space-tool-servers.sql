-- Tools of a Space's own: servers of the Model Context Protocol and OpenAPI files (src/chat/space-tools).
create table space_tool_servers (
  id uuid primary key,
  space_id uuid not null references spaces (id) on delete cascade,
  organisation_id uuid not null,
  kind text not null check (kind in ('mcp', 'openapi')),
  name text not null,
  url text not null,
  enabled boolean not null,
  may_change_data boolean not null,
  -- of the chat page
  visitors boolean not null,
  credential_sealed text,
  -- kind, and name of the header or user
  credential_shown jsonb,
  -- every tool that was read
  tools jsonb not null,
  -- definitions of the allowed ones: all that an answer loads
  allowed jsonb not null,
  -- raised by each change
  generation integer not null,
  read_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (space_id, name)
);
