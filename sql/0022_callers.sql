-- Whether the process that asked a question still waits for the answer. A list of questions shows that to everybody who
-- sees the question, so agents may read when a process of their team was heard. Labels and facts of its host stay hidden.
set role cordon_owner;

grant select (team, actor, lease, first_seen, last_seen) on agents.runners to cordon_agent;

reset role;
