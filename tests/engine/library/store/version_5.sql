DROP TABLE pasts;
DROP TABLE unread;
PRAGMA user_version = 5;
