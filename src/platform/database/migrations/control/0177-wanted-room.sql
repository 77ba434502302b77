-- The latest request of an instance to the others to give back what they do not use, and of which one: found also where the notification is lost.
alter table ledger_periods add column room_wanted_at timestamptz;
alter table ledger_periods add column room_wanted_by uuid;
